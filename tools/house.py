"""Print sizes of the source, by commit and now: python tools/house.py [COMMIT ...]."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = "src/halfseen/"
LINES, POSITIONAL, DEPTH = 120, 8, 5  # of a function, at most
BLOCKS = (ast.For, ast.While, ast.If, ast.With, ast.Try, ast.Match)
Function = ast.FunctionDef | ast.AsyncFunctionDef


def main(commits: list[str]) -> None:
    """Print one column per commit; the working tree comes last."""
    columns = {commit: measures(files_of(commit)) for commit in commits}
    columns["working tree"] = measures(files_here())
    rows = list(columns["working tree"])
    width = max(map(len, rows))
    cells = {name: [values[row] for row in rows] for name, values in columns.items()}
    widths = {name: max(map(len, [name, *values])) for name, values in cells.items()}
    print(" " * width, *(name.rjust(widths[name]) for name in columns), sep="  ")
    for place, row in enumerate(rows):
        shown = (values[place].rjust(widths[name]) for name, values in cells.items())
        print(row.ljust(width), *shown, sep="  ")


def measures(files: dict[str, str]) -> dict[str, str]:
    """Return every measure of a tree, written out."""
    trees = {path: ast.parse(text) for path, text in files.items()}
    functions = [(path, node) for path, tree in trees.items() for node in functions_of(tree)]
    lengths = [(f.end_lineno - f.lineno + 1, path, f.name) for path, f in functions if f.end_lineno]
    taken = [(positional(f), path, f.name) for path, f in functions]
    deep = [(depth(f), path, f.name) for path, f in functions]
    sizes = {path: len(text.splitlines()) for path, text in files.items()}
    tests = [
        (path, number)
        for path, text in files.items()
        if path.split("/")[0] in ("engine", "report")
        for number, line in enumerate(text.splitlines())
        if "isinstance(" in line
    ]
    return {
        "files": f"{len(files):,}",
        "lines": f"{sum(sizes.values()):,}",
        "modules at the root": f"{sum('/' not in path for path in files)}",
        "longest file": f"{max(sizes.values())}",
        "functions": f"{len(functions):,}",
        "longest function": named(max(lengths)),
        f"functions over {LINES} lines": f"{sum(n > LINES for n, *_ in lengths)}",
        "most positional parameters": named(max(taken)),
        f"functions with over {POSITIONAL}": f"{sum(n > POSITIONAL for n, *_ in taken)}",
        "deepest nesting": named(max(deep)),
        f"functions deeper than {DEPTH}": f"{sum(n > DEPTH for n, *_ in deep)}",
        "isinstance lines in engine and report": f"{len(tests)}",
    }


def named(found: tuple[int, str, str]) -> str:
    """Write a number and the function it is of."""
    return f"{found[0]} ({Path(found[1]).stem}.{found[2]})"


def functions_of(tree: ast.AST) -> Iterator[Function]:
    """Yield every function and method."""
    return (node for node in ast.walk(tree) if isinstance(node, Function))


def positional(function: Function) -> int:
    """Return how many arguments are taken by position, `self` and `cls` aside."""
    names = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
    return len(names) - (names[:1] in (["self"], ["cls"]))


def depth(node: ast.AST) -> int:
    """Return how many blocks stand inside one another; ``elif`` opens no new one."""
    deepest = 0
    for field, value in ast.iter_fields(node):
        chained = field == "orelse" and isinstance(value, list) and len(value) == 1
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or isinstance(child, Function | ast.ClassDef):
                continue
            follows = chained and isinstance(node, ast.If) and isinstance(child, ast.If)
            inner = depth(child) + (isinstance(child, BLOCKS) and not follows)
            deepest = max(deepest, inner)
    return deepest


def files_here() -> dict[str, str]:
    """Return the source of the working tree by its path in the package."""
    base = ROOT / SOURCE
    return {str(p.relative_to(base)): p.read_text("utf-8") for p in sorted(base.rglob("*.py"))}


def files_of(commit: str) -> dict[str, str]:
    """Return the source of a commit by its path in the package."""
    listed = _git("ls-tree", "-r", "--name-only", commit, "--", SOURCE)
    paths = [path for path in listed.splitlines() if path.endswith(".py")]
    return {path.removeprefix(SOURCE): _git("show", f"{commit}:{path}") for path in paths}


def _git(*arguments: str) -> str:
    ended = subprocess.run(
        ["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return ended.stdout


if __name__ == "__main__":
    main(sys.argv[1:])
