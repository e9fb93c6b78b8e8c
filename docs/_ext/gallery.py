"""A gallery of scripts: each ``plot_*.py`` is a page with its words, its code and its picture.

A script begins with a docstring in Markdown: a heading, then what the picture shows. It saves its
picture under its own name, as ``plot_name.svg``, in the current folder. It is run when its page is
read, so that a script that fails fails the build.
"""

from __future__ import annotations

import ast
import re
import runpy
import warnings
from contextlib import chdir
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from myst_parser.parsers.sphinx_ import MystParser
from notebooks import opening
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

PICTURES = "_static/gallery"


def parts(source: str) -> tuple[str, str]:
    """Return a script's docstring and the code after it."""
    tree = ast.parse(source)
    first = tree.body[0]
    words = ast.get_docstring(tree)
    if words is None or not words.startswith("# "):
        raise ValueError("a gallery script begins with a docstring that begins with a heading")
    return words, "\n".join(source.splitlines()[first.end_lineno or 1 :]).strip()


def draw(script: Path, folder: Path) -> None:
    """Run a script in the folder where its picture belongs."""
    folder.mkdir(parents=True, exist_ok=True)
    with warnings.catch_warnings(), chdir(folder):
        warnings.simplefilter("error")
        runpy.run_path(str(script), run_name="__main__")
    if not (folder / f"{script.stem}.svg").exists():
        raise ValueError(f"{script.name} must save {script.stem}.svg")


def page(source: str, name: str) -> str:
    """Return a script as a Markdown page."""
    words, code = parts(source)
    title, _, text = words.partition("\n")
    return "\n".join(
        [
            title,
            "",
            text.strip(),
            "",
            f'<img class="picture" src="../{PICTURES}/{name}.svg" alt="{escape(shown(words))}">',
            "",
            "```python",
            code,
            "```",
            "",
            f"Run it yourself: `python docs/gallery/{name}.py`.",
        ]
    )


class ScriptParser(MystParser):
    """Reads a gallery script as a page."""

    supported = ("gallery",)

    def parse(self, inputstring: str, document: nodes.document) -> None:
        """Run the script, then read its words and code."""
        script = Path(document.current_source or document["source"])
        draw(script, Path(document.settings.env.app.outdir) / PICTURES)
        super().parse(page(inputstring, script.stem), document)


def shown(words: str) -> str:
    """Return what a picture shows in a sentence: the first after the heading."""
    text = " ".join(words.partition("\n")[2].split())
    return re.sub(r"[`*$\\]", "", re.split(r"(?<=[.:]) ", text)[0])


class Thumbnails(SphinxDirective):
    """Scripts and notebooks of the page's folder, in the order listed, as cards with pictures."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the pictures; their pages need a table of contents too."""
        folder = Path(self.env.doc2path(self.env.docname)).parent
        up = "../" * self.env.docname.count("/")
        cards = []
        for name in self.content:
            script = folder / name
            self.env.note_dependency(str(script))
            source = script.read_text(encoding="utf-8")
            words = opening(source) if script.suffix == ".ipynb" else parts(source)[0]
            title = words.partition("\n")[0][2:]
            kind = "<small>notebook</small>" if script.suffix == ".ipynb" else ""
            cards.append(
                f'<a class="card" href="{script.stem}.html"><img src="{up}{PICTURES}/'
                f'{script.stem}.svg" alt="{escape(shown(words))}"><span>{escape(title)}</span>'
                f"{kind}</a>"
            )
        return [nodes.raw("", f'<div class="cards">{"".join(cards)}</div>', format="html")]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the parser and the directive."""
    app.add_source_suffix(".py", "gallery")
    app.add_source_parser(ScriptParser)
    app.add_directive("thumbnails", Thumbnails)
    return {"parallel_read_safe": False}
