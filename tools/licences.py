"""Write docs/licences.md from the installed packages: python tools/licences.py (make licences)."""

from __future__ import annotations

from importlib.metadata import Distribution

from dependencies import ROOT, licence, optional, runtime

PAGE = ROOT / "docs" / "licences.md"
ALLOWED = {
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-CMU",
    "PSF-2.0",
    "Zlib",
}
TEXT = """# Licences

halfseen is under the MIT licence. These are the licences of the packages it needs, as the pinned
versions state them in their own metadata. `make licences` writes this page; a test compares it
with what is installed and fails on a new package, or on a licence that is neither permissive nor
named below.

## Needed to run

{runtime}

## Needed by extras

For `dask`, `datasets`, `excel`, `gymnasium`, `mysql`, `postgres`, `serve`, `sklearn` and
`sqlite`. Two that `serve` brings are under weak copyleft, which asks nothing of programs that use
them unchanged: psycopg (LGPL), for PostgreSQL, and certifi (MPL), for the client.

{optional}

The extra `cuda` also brings NVIDIA's compiler and libraries, which are under NVIDIA's own terms and
not free software; nothing of them is needed without a GPU.
"""


def allowed(expression: str) -> bool:
    """Return whether every licence of an expression, or one of its alternatives, is allowed."""
    alternatives = expression.replace("(", "").replace(")", "").split(" OR ")
    return any(all(part in ALLOWED for part in one.split(" AND ")) for one in alternatives)


def table(packages: dict[str, Distribution]) -> str:
    """Return a table of packages with their versions and licences."""
    rows = [f"| {name} | {p.version} | {licence(p)} |" for name, p in packages.items()]
    return "\n".join(["| package | version | licence |", "|---|---|---|", *rows])


def page() -> str:
    """Return the page for what is installed here."""
    return TEXT.format(runtime=table(runtime()), optional=table(optional()))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
