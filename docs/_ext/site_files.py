"""Files written next to the pages: the text of each for searching, and ``llms.txt``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

SECTIONS = {
    "Start": ("install", "quickstart", "faq", "glossary", "contents"),
    "How-to": ("how-to/",),
    "Concepts": ("concepts/",),
    "API": ("api/",),
    "Theory": ("theory/", "errata", "claims"),
    "Gallery": ("gallery/",),
    "More": ("",),  # every page not named before
}
NAMED = ("class", "data", "exception", "function")  # not their methods and attributes
SUMMARY = "Bandits when feedback goes missing: simulate them, bound them, audit logs, decide live."


def first_sentence(document: nodes.document) -> str:
    """Return the first sentence of a page that is not its title."""
    for paragraph in document.findall(nodes.paragraph):
        text = plain(paragraph)
        if text and isinstance(paragraph.parent, nodes.section):  # not in a table or a list
            return text.partition(". ")[0].rstrip(".:") + "."
    return ""


def plain(node: nodes.Node) -> str:
    """Return the text of a node without HTML written in it."""
    pieces = (t.astext() for t in node.findall(nodes.Text) if not isinstance(t.parent, nodes.raw))
    return " ".join(" ".join(pieces).split())


def index(app: Sphinx) -> str:
    """Return every page and every public name for programs that read documentation."""
    env = app.env
    lines = [f"# halfseen {app.config.release}", "", f"> {SUMMARY}"]
    left = sorted(env.found_docs)
    for section, starts in SECTIONS.items():
        lines += ["", f"## {section}", ""]
        chosen = [name for name in left if any(_within(name, start) for start in starts)]
        left = [name for name in left if name not in chosen]
        for name in chosen:
            title = env.titles[name].astext()
            about = first_sentence(env.get_doctree(name))
            lines.append(f"- [{title}]({name}.html)" + (f": {about}" if about else ""))
    return "\n".join([*lines, "", "## Names", "", *names(app)]) + "\n"


def _within(name: str, start: str) -> bool:
    return name == start or (start[-1:] in ("", "/") and name.startswith(start))


def names(app: Sphinx) -> list[str]:
    """Return a line for every class, function and constant of the API with its home."""
    objects = app.env.get_domain("py").get_objects()
    return [
        f"- [{name}]({page}.html#{anchor}): {kind}"
        for name, _, kind, page, anchor, priority in sorted(objects)
        if kind in NAMED and priority >= 0
    ]


def write(app: Sphinx, error: Exception | None) -> None:
    """Write both files when the site is built."""
    if error is not None or app.builder.format != "html":
        return
    out = Path(app.outdir)
    (out / "llms.txt").write_text(index(app), encoding="utf-8")
    texts = {name: plain(app.env.get_doctree(name)) for name in app.env.found_docs}
    script = "window.pageTexts = " + json.dumps(texts, ensure_ascii=False) + ";\n"
    (out / "_static" / "page_texts.js").write_text(script, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Run after everything is written."""
    app.connect("build-finished", write)
    return {"parallel_read_safe": True}
