"""Notebooks as pages: each ``*.ipynb`` is run when its page is read, and shown with its outputs.

The first cell is Markdown that begins with a heading. A chart that ends a cell is saved under the
notebook's name. A cell that fails fails the build.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import warnings
from pathlib import Path
from typing import Any

from docutils import nodes
from myst_parser.parsers.sphinx_ import MystParser
from sphinx.application import Sphinx

PICTURES = "_static/gallery"


def cells(source: str) -> list[tuple[str, str]]:
    """Return the kind and text of every cell."""
    return [(cell["cell_type"], "".join(cell["source"])) for cell in json.loads(source)["cells"]]


def opening(source: str) -> str:
    """Return the words of the first cell."""
    kind, words = cells(source)[0]
    if kind != "markdown" or not words.startswith("# "):
        raise ValueError("a notebook begins with a Markdown cell that begins with a heading")
    return words


def run(code: str, names: dict[str, Any]) -> tuple[str, Any]:
    r"""Run a cell; return what it printed and the value of its last expression, if it ends in one.

    >>> run("print(1)\n2 + 3", {})
    ('1\n', 5)
    """
    tree = ast.parse(code)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with warnings.catch_warnings(), contextlib.redirect_stdout(printed):
        warnings.simplefilter("error")
        exec(compile(tree, "notebook", "exec"), names)
        value = None
        if last is not None:
            value = eval(compile(ast.Expression(last.value), "notebook", "eval"), names)
    return printed.getvalue(), value


def page(source: str, name: str, folder: Path) -> str:
    """Run a notebook and return it as a Markdown page with its outputs."""
    names: dict[str, Any] = {"__name__": "__main__"}
    lines = []
    for kind, text in cells(source):
        if kind == "markdown":
            lines += [text, ""]
            continue
        lines += ["```python", text, "```", ""]
        printed, value = run(text, names)
        if printed:
            lines += ["```text", printed.rstrip(), "```", ""]
        if type(value).__module__.startswith("altair."):
            folder.mkdir(parents=True, exist_ok=True)
            value.save(folder / f"{name}.svg")
            picture = f'src="../{PICTURES}/{name}.svg" alt="What the cell above draws"'
            lines += [f'<img class="picture" {picture}>', ""]
        elif hasattr(value, "_repr_html_"):
            html = value._repr_html_().replace("\n\n", "\n")
            lines += ["```{raw} html", f'<div class="output">{html}</div>', "```", ""]
        elif value is not None:
            lines += ["```text", repr(value), "```", ""]
    if not (folder / f"{name}.svg").exists():
        raise ValueError(f"{name}.ipynb must draw a chart")
    return "\n".join([*lines, f"Open it yourself: `docs/gallery/{name}.ipynb`."])


class NotebookParser(MystParser):
    """Reads a notebook as a page."""

    supported = ("notebook",)

    def parse(self, inputstring: str, document: nodes.document) -> None:
        """Run the notebook, then read its words, code and outputs."""
        script = Path(document.current_source or document["source"])
        folder = Path(document.settings.env.app.outdir) / PICTURES
        super().parse(page(inputstring, script.stem, folder), document)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the parser."""
    app.add_source_suffix(".ipynb", "notebook")
    app.add_source_parser(NotebookParser)
    return {"parallel_read_safe": False}
