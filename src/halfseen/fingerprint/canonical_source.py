"""A canonical form of a function's source, whatever its comments, formatting or Python version.

The syntax tree is written out as node names and fields. Positions, docstrings, annotations and
whatever only some versions of Python record are left out. The source on disk counts only if it
compiles to the function's own bytecode: a file may have been edited since it was imported.
"""

from __future__ import annotations

import ast
import dis
import linecache
import os
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any
from weakref import WeakKeyDictionary

_SKIPPED = {"ctx", "annotation", "returns", "type_comment", "type_params", "kind", "simple"}
_KINDS = 0xFFFF  # flags of what a function is; notebooks pass those of __future__ on
_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass(frozen=True)
class Source:
    """A function's canonical source and the names that it uses.

    Attributes
    ----------
    text
        The canonical text; bytecode and Python's version where there is no source.
    names
        Dotted names it reads, such as ``("math", "exp")``, in order; locals may be among them.
    imports
        What it imports: the module, the name taken from it or None, and the name it is bound to.
    alone
        Names among them that are used otherwise than before a dot; None if that is not known.
    """

    text: str
    names: tuple[tuple[str, ...], ...]
    imports: tuple[tuple[str, str | None, str], ...]
    alone: frozenset[str] | None


_known: WeakKeyDictionary[FunctionType, tuple[CodeType, Source]] = WeakKeyDictionary()
_files: dict[str, _File] = {}


def source_of(function: FunctionType) -> Source:
    """Return the canonical source of a function.

    Examples
    --------
    >>> def half(x):
    ...     return x / 2  # a comment
    >>> "BinOp" in source_of(half).text
    True
    """
    known = _known.get(function)
    if known is not None and known[0] is function.__code__:
        return known[1]
    node = _definition(function)
    found = _from_bytecode(function.__code__) if node is None else _from_tree(node)
    _known[function] = (function.__code__, found)
    return found


def codes_in(code: CodeType) -> Iterator[CodeType]:
    """Yield a code object and those of the functions written inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes_in(constant)


@dataclass(frozen=True)
class _File:
    """The functions of a source file by first line and name, as syntax and as bytecode."""

    text: str
    nodes: dict[tuple[int, str], list[_Definition]]
    codes: dict[tuple[int, str], list[CodeType]]


def _definition(function: FunctionType) -> _Definition | None:
    """Return the syntax of a function, or None where no source compiles to its bytecode."""
    code = function.__code__
    linecache.checkcache(code.co_filename)
    text = "".join(linecache.getlines(code.co_filename, function.__globals__))
    file = _files.get(code.co_filename)
    if file is None or file.text != text:
        parsed = _parsed(text, code.co_filename)
        if parsed is None:
            return None
        file = _files[code.co_filename] = parsed
    key = (code.co_firstlineno, code.co_name)
    if not any(_same_code(code, other) for other in file.codes.get(key, ())):
        return None
    nodes = file.nodes.get(key, [])
    if len(nodes) > 1:  # several lambdas on one line
        nodes = [node for node in nodes if _covers(node, code)]
    return nodes[0] if len(nodes) == 1 else None


def _parsed(text: str, filename: str) -> _File | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
            whole = compile(tree, filename, "exec", dont_inherit=True)
            # Notebooks compile each statement by itself, without seeing what was imported.
            pieces = [] if os.path.isfile(filename) else tree.body
            alone = [
                compile(ast.Module([piece], []), filename, "exec", dont_inherit=True)
                for piece in pieces
            ]
    except (SyntaxError, ValueError, RecursionError):
        return None
    file = _File(text, {}, {})
    for node in ast.walk(tree):
        if isinstance(node, _Definition):
            decorators = getattr(node, "decorator_list", [])
            line = min([node.lineno, *(decorator.lineno for decorator in decorators)])
            file.nodes.setdefault((line, getattr(node, "name", "<lambda>")), []).append(node)
    for compiled in (whole, *alone):
        for code in codes_in(compiled):
            file.codes.setdefault((code.co_firstlineno, code.co_name), []).append(code)
    return file


def _same_code(first: CodeType, second: CodeType) -> bool:
    """Return whether two code objects do the same; positions in the file do not count."""
    names = ("co_code", "co_names", "co_varnames", "co_freevars", "co_cellvars")
    if any(getattr(first, name) != getattr(second, name) for name in names):
        return False
    if (first.co_flags ^ second.co_flags) & _KINDS:
        return False
    if len(first.co_consts) != len(second.co_consts):
        return False
    for one, other in zip(first.co_consts, second.co_consts, strict=True):
        if isinstance(one, CodeType) and isinstance(other, CodeType):
            if not _same_code(one, other):
                return False
        elif isinstance(one, frozenset):
            if one != other:
                return False
        elif type(one) is not type(other) or repr(one) != repr(other):  # 0.0 is not -0.0
            return False
    return True


def _covers(node: _Definition, code: CodeType) -> bool:
    """Return whether all of a lambda's instructions come from inside its syntax."""
    begin, end = (node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset or 0)
    places = [
        ((line, column), (last, last_column))
        for line, last, column, last_column in code.co_positions()
        if line is not None and last is not None and column is not None and last_column is not None
    ]
    real = [(first, last) for first, last in places if first != last]
    return bool(real) and all(begin <= first and last <= end for first, last in real)


def _from_bytecode(code: CodeType) -> Source:
    """Return what can be known of a function without source."""
    words = [f"Python {sys.version_info.major}.{sys.version_info.minor}"]
    names: set[str] = set()
    for part in codes_in(code):
        plain = [c for c in part.co_consts if not isinstance(c, CodeType)]
        frozen = [sorted(map(ascii, c)) if isinstance(c, frozenset) else ascii(c) for c in plain]
        words += [part.co_code.hex(), str(frozen), str(part.co_varnames), str(part.co_names)]
        words += [str(part.co_flags), str(part.co_argcount), str(part.co_freevars)]
        names |= {*part.co_names, *part.co_freevars}
    # Any name may be an attribute of any other: the walk looks at all pairs that exist.
    chains = [
        (name, *rest) for name in sorted(names) for rest in ((), *((n,) for n in sorted(names)))
    ]
    imports = [
        (str(step.argval), None, str(step.argval).partition(".")[0])
        for part in codes_in(code)
        for step in dis.get_instructions(part)
        if step.opname == "IMPORT_NAME"
    ]
    return Source("\n".join(words), tuple(chains), tuple(imports), None)


def _from_tree(node: _Definition) -> Source:
    writer = _Writer()
    writer.write(node)
    names, imports = tuple(sorted(writer.names)), tuple(writer.imports)
    return Source("".join(writer.words), names, imports, frozenset(writer.alone))


class _Writer:
    """Writes a syntax tree and notes the names it reads."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.names: set[tuple[str, ...]] = set()
        self.imports: list[tuple[str, str | None, str]] = []
        self.alone: set[str] = set()
        self._dotted: set[int] = set()

    def write(self, value: Any) -> None:
        """Write a node, a list of them, or a plain value."""
        if isinstance(value, list):
            self.words.append("[")
            for entry in value:
                if not _says_nothing(entry):
                    self.write(entry)
            self.words.append("]")
        elif isinstance(value, ast.AST):
            self._write_node(value)
        else:
            self.words.append(f"{type(value).__name__}:{value!a};")

    def _write_node(self, node: ast.AST) -> None:
        if isinstance(node, ast.AnnAssign) and node.value is not None:
            node = ast.Assign([node.target], node.value)
        if isinstance(node, ast.JoinedStr):  # Python 3.12 has empty texts in some
            texts = (part for part in node.values if getattr(part, "value", None) != "")
            node = ast.JoinedStr(list(texts))
        self._note(node)
        self.words.append(f"{type(node).__name__}(")
        for name, value in sorted(ast.iter_fields(node)):
            if name in _SKIPPED or value is None or value == []:
                continue
            self.words.append(f"{name}=")
            self.write(value)
        self.words.append(")")

    def _note(self, node: ast.AST) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.asname is None:
                    self.imports.append((alias.name, None, alias.name.partition(".")[0]))
                else:
                    above, _, last = alias.name.rpartition(".")
                    taken = (above, last) if above else (alias.name, None)
                    self.imports.append((*taken, alias.asname))
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            self.imports += [(module, a.name, a.asname or a.name) for a in node.names]
        elif isinstance(node, ast.Name):
            self.names.add((node.id,))
            if id(node) not in self._dotted:
                self.alone.add(node.id)
        elif isinstance(node, ast.Attribute):
            rest: list[str] = []
            inner: ast.AST = node
            while isinstance(inner, ast.Attribute):
                rest.insert(0, inner.attr)
                inner = inner.value
            if isinstance(inner, ast.Name):
                self._dotted.add(id(inner))
                self.names.add((inner.id, *rest))


def _says_nothing(entry: Any) -> bool:
    """Return whether a statement is a docstring, another lone constant or a lone annotation."""
    if isinstance(entry, ast.Expr):
        return isinstance(entry.value, ast.Constant)
    return isinstance(entry, ast.AnnAssign) and entry.value is None
