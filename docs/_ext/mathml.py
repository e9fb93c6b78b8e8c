"""Formulas as MathML, which browsers draw themselves: no script, no font, no network."""

from __future__ import annotations

import re
from html import unescape
from typing import Any
from xml.etree import ElementTree

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx

# Browsers follow MathML Core, which has letters instead of the attribute mathvariant.
CAPITALS, SMALL, DIGITS = 0x1D538, 0x1D552, 0x1D7CE
HOLES = {"C": "ℂ", "H": "ℍ", "N": "ℕ", "P": "ℙ", "Q": "ℚ", "R": "ℝ", "Z": "ℤ"}
OPENING, CLOSING = "([{⟨⌊⌈", ")]}⟩⌋⌉"
FENCES, RELATIONS = "⌊⌋⌈⌉⟨⟩", "⪯⪰~"
FUNCTIONS = ("log", "sin", "cos", "exp", "arg")
LIMITS = ("max", "min", "sup", "inf", "lim", "argmax", "∑", "∏")
UNDER = {"msub": "munder", "msup": "mover", "msubsup": "munderover"}
ROMAN = re.compile(r"\{\\rm\s+([^}]*)\}")


def mathml(latex: str, *, block: bool) -> str:
    """Return a formula as a MathML element."""
    latex = " ".join(line.strip() for line in latex.splitlines())
    latex = ROMAN.sub(r"{\\text{\1}}", latex)
    markup = convert(latex, display="block" if block else "inline")
    # Its output mixes entities and bare ampersands.
    root = ElementTree.fromstring(unescape(markup).replace("&", "&amp;").replace("<<", "&lt;<"))
    for element in list(root.iter()):
        group_sized(element)
    for element in root.iter():
        tidy(element, block)
    return ElementTree.tostring(root, encoding="unicode").replace("ns0:", "").replace(":ns0", "")


def group_sized(parent: ElementTree.Element) -> None:
    r"""Put what is between two fences of a given size, as \Big( and \Big), into a row of its own.

    A script then stands beside the whole row, not beside the closing fence alone, which would not
    stretch; and both fences are as high as what they hold.
    """
    open_at: list[int] = []
    place = 0
    while place < len(parent):
        child = parent[place]
        scripted = child.tag.rpartition("}")[2] in UNDER
        fence = child[0] if scripted else child
        sign = (fence.text or "").lstrip("\\") if fence.get("minsize") else ""
        if sign and sign in OPENING:
            open_at.append(place)
        elif sign and sign in CLOSING and open_at:
            first = open_at.pop()
            row = ElementTree.Element(fence.tag.removesuffix("mo") + "mrow")
            row.extend([*parent[first:place], fence])
            for end, form in ((row[0], "prefix"), (row[-1], "postfix")):
                end.attrib.pop("maxsize", None)
                end.attrib.update(stretchy="true", fence="true", form=form)
            if scripted:
                child[0] = row
            else:
                parent[place] = row
            del parent[first:place]
            place = first
        place += 1


def tidy(element: ElementTree.Element, block: bool) -> None:
    """Write an element as browsers expect it."""
    name = element.tag.rpartition("}")[2]
    space = element.tag.removesuffix(name)
    variant = element.attrib.get("mathvariant")
    if variant in ("double-struck", "bold") and element.text:
        del element.attrib["mathvariant"]
        element.text = "".join(letter(c, variant) for c in element.text)
    if name == "mo" and element.text in (r"\{", r"\}"):
        element.text = element.text[1]
    if name == "mo" and element.text == "∞":
        element.tag = f"{space}mi"
    if name == "mi" and element.text in FENCES:
        element.tag = f"{space}mo"
        element.set("stretchy", "false")
    if name == "mi" and element.text in FUNCTIONS:
        element.tag = f"{space}mo"
        element.attrib.update(form="prefix", lspace="0.17em", rspace="0.1em")
    if name == "mi" and element.text in RELATIONS:
        element.tag = f"{space}mo"
        element.text = element.text.replace("~", "∼")
    if block and name in UNDER and len(element) and element[0].text in LIMITS:
        element.tag = space + UNDER[name]


def letter(character: str, variant: str) -> str:
    """Return the double-struck or bold form of a character, itself where there is none."""
    if variant == "double-struck" and character.isascii() and character.isupper():
        return HOLES.get(character, chr(CAPITALS + ord(character) - ord("A")))
    if variant == "bold" and character.isdigit():
        return chr(DIGITS + int(character))
    return character


def visit_inline(translator: Any, node: nodes.math) -> None:
    """Write a formula in a line."""
    # The word joiner keeps a full stop or comma on the line of the formula before it.
    translator.body.append(mathml(node.astext(), block=False) + "&#8288;")
    raise nodes.SkipNode


def visit_block(translator: Any, node: nodes.math_block) -> None:
    """Write a formula on a line of its own; a wide one scrolls."""
    formula = mathml(node.astext(), block=True)
    translator.body.append(f'<div class="formula">{formula}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True}
