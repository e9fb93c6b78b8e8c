"""What halfseen needs, as installed here: the packages, and the licence of each."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = (  # cuda is under NVIDIA's own terms
    *("dask", "datasets", "excel", "gymnasium", "mysql", "postgres", "serve", "sklearn", "sqlite"),
)
SPDX = {
    "Apache 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "ISC License": "ISC",
    "MIT License": "MIT",
    "MIT license": "MIT",
}


def needs(package: Distribution, extras: Iterable[str] = ()) -> list[Requirement]:
    """Return what a package asks for on this system, with some of its extras."""
    asked = [Requirement(text) for text in package.requires or ()]
    with_extras = [{"extra": extra} for extra in ("", *extras)]
    return [r for r in asked if not r.marker or any(map(r.marker.evaluate, with_extras))]


def closure(requirements: Iterable[str]) -> dict[str, Distribution]:
    """Return the packages that requirements bring, and those that these bring, by name."""
    found: dict[str, Distribution] = {}
    waiting = [Requirement(text) for text in requirements]
    done = set()
    while waiting:
        wanted = waiting.pop()
        name = canonicalize_name(wanted.name)
        if (name, *wanted.extras) in done:
            continue
        done.add((name, *wanted.extras))
        found[name] = distribution(name)
        waiting += needs(found[name], wanted.extras)
    return dict(sorted(found.items()))


def runtime() -> dict[str, Distribution]:
    """Return what halfseen itself needs to run."""
    return closure(PROJECT["dependencies"])


def optional() -> dict[str, Distribution]:
    """Return what its extras need besides."""
    core = runtime()
    asked = [text for extra in EXTRAS for text in PROJECT["optional-dependencies"][extra]]
    return {name: package for name, package in closure(asked).items() if name not in core}


def licence(package: Distribution) -> str:
    """Return the licence of a package as an SPDX expression, from its own metadata."""
    about = package.metadata
    if about.get("License-Expression"):
        return about["License-Expression"]
    classifiers = about.get_all("Classifier") or []
    short = [c.rpartition(" :: ")[2].partition(" (")[0] for c in classifiers if "License ::" in c]
    text = about.get("License") or ""
    if "\n" not in text and text:
        short.insert(0, text)
    if short and "BSD" in short[0] and not short[0].startswith("BSD-"):
        return bsd(package, text)
    return SPDX.get(short[0], short[0]) if short else "unknown"


def bsd(package: Distribution, text: str) -> str:
    """Return which of the two BSD licences a package has, by the clause they differ in."""
    own = [f for f in package.files or () if ".dist-info" in f.parts[0]]
    files = [f for f in own if f.name in ("LICENSE", "LICENSE.txt")]
    texts = [text, *(f.read_text() for f in files)]
    third = any("Neither the name" in " ".join(text.split()) for text in texts)
    return "BSD-3-Clause" if third else "BSD-2-Clause"
