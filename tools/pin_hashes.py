"""Write the hashed requirements from the pins: python tools/pin_hashes.py (make hashes).

constraints.txt names every version. For each group (what halfseen needs to run, to be tested, to
use a GPU, to be built) pip resolves which of them it takes, and the index that pip is set up to
use gives the SHA-256 of every wheel of these versions. No file is kept, no host is written down.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import tomllib
import urllib.request
from collections.abc import Iterable, Iterator
from html.parser import HTMLParser
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag

from packaging.requirements import Requirement
from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)
from packaging.version import Version

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "requirements"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
SYSTEMS = (
    ("linux", "Linux", "posix", "x86_64"),
    ("linux", "Linux", "posix", "aarch64"),
    ("darwin", "Darwin", "posix", "arm64"),
    ("darwin", "Darwin", "posix", "x86_64"),
    ("win32", "Windows", "nt", "AMD64"),
)
MACHINES = ("any", "x86_64", "aarch64", "arm64", "universal2", "amd64")
HEADS = {
    "run": "What halfseen needs to run.",
    "test": "What `make test`, `make docs` and the other targets need besides.",
    "cuda": "What the cuda engine needs besides.",
    "build": "What builds the wheel.",
}


class Links(HTMLParser):
    """Collect the addresses on a page of a package index."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep where an anchor leads."""
        self.found += [value for name, value in attrs if tag == "a" and name == "href" and value]


def constraints() -> dict[str, str]:
    """Return the pinned version of every package, by its canonical name."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").split()
    return {canonicalize_name(n): v for n, _, v in (line.partition("==") for line in lines)}


def index() -> str:
    """Return the address of the package index that pip uses."""
    asked = [sys.executable, "-m", "pip", "config", "get", "global.index-url"]
    set_up = (
        os.environ.get("PIP_INDEX_URL")
        or subprocess.run(asked, capture_output=True, text=True).stdout.strip()
    )
    if set_up:
        return set_up
    from pip._internal.models.index import PyPI

    return PyPI.simple_url


def resolved(wanted: list[str]) -> list[dict[str, Any]]:
    """Return what pip would install for requirements under the pins, with its metadata."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        options = ["--quiet", "--dry-run", "--ignore-installed", "--report", str(report)]
        command = [sys.executable, "-m", "pip", "install", *options, "-c", "constraints.txt"]
        subprocess.run([*command, *wanted], cwd=ROOT, check=True)
        installed = json.loads(report.read_text(encoding="utf-8"))["install"]
    return [item for item in installed if item["metadata"]["name"] != "halfseen"]


def environments() -> Iterator[dict[str, str]]:
    """Yield the variables of dependency markers on every supported system and Python."""
    for python, (platform, system, name, machine) in product(PYTHONS, SYSTEMS):
        yield {
            "python_version": python,
            "python_full_version": f"{python}.0",
            "sys_platform": platform,
            "platform_system": system,
            "os_name": name,
            "platform_machine": machine,
        }


def elsewhere(item: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the dependencies of a package on any supported system, and a marker of the system."""
    for text in item["metadata"].get("requires_dist", []):
        wanted = Requirement(text)
        for there, extra in product(environments(), ("", *item.get("requested_extras", ()))):
            if wanted.marker is None or wanted.marker.evaluate(there | {"extra": extra}):
                platform = there["sys_platform"]
                yield canonicalize_name(wanted.name), f'sys_platform == "{platform}"'


def usable(name: str, version: str, filename: str) -> bool:
    """Return whether a file is a wheel of this version for a supported Python and system."""
    try:
        project, found, _, tags = parse_wheel_filename(filename)
    except InvalidWheelFilename:
        return False
    pythons = {f"cp{python.replace('.', '')}" for python in PYTHONS}
    return (project, found) == (name, Version(version)) and any(
        tag.platform.endswith(MACHINES)
        and not tag.platform.startswith(("musllinux", "android", "ios"))
        and (tag.interpreter in {"py3", *pythons} or tag.abi == "abi3")
        and not tag.abi.endswith("t")
        for tag in tags
    )


def is_source(name: str, version: str, filename: str) -> bool:
    """Return whether a file is the source archive of this version."""
    try:
        return parse_sdist_filename(filename) == (name, Version(version))
    except InvalidSdistFilename:
        return False


def files(where: str, name: str) -> list[tuple[str, str]]:
    """Return the name and the SHA-256 of every file of a package on the index."""
    with urllib.request.urlopen(f"{where.rstrip('/')}/{name}/", timeout=60) as page:
        links = Links()
        links.feed(page.read().decode())
    split = [urldefrag(link) for link in links.found]
    return [
        (unquote(address.rpartition("/")[2]), digest.removeprefix("sha256="))
        for address, digest in split
        if digest.startswith("sha256=")
    ]


def hashes(where: str, name: str, version: str) -> list[str]:
    """Return the SHA-256 of every usable wheel of a version, or of its source without one."""
    for fits in (usable, is_source):
        found = {digest for file, digest in files(where, name) if fits(name, version, file)}
        if found:
            return sorted(found)
    raise SystemExit(f"The index has no file with a SHA-256 for {name} {version}.")


def entries(where: str, items: Iterable[dict[str, Any]], pins: dict[str, str]) -> dict[str, str]:
    """Return the lines of every package of a group, by its name."""
    items = list(items)
    here = {canonicalize_name(item["metadata"]["name"]) for item in items}
    markers: dict[str, set[str]] = {}
    for item in items:
        for name, marker in elsewhere(item):
            if name not in here:
                markers.setdefault(name, set()).add(marker)
    lines = {}
    for name in sorted(here | set(markers)):
        if name not in pins:
            raise SystemExit(f"Pin {name} in constraints.txt ({', '.join(markers.get(name, ''))}).")
        marker = " or ".join(sorted(markers.get(name, ())))
        first = f"{name}=={pins[name]}" + (f" ; {marker}" if marker else "")
        rows = [first, *(f"    --hash=sha256:{h}" for h in hashes(where, name, pins[name]))]
        lines[name] = " \\\n".join(rows) + "\n"
    return lines


def main() -> None:
    """Write one file for each group; what `run` has, `test` and `cuda` refer to."""
    pins, where = constraints(), index()
    build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]
    wanted = {"run": ["."], "test": [".[test]"], "cuda": [".[cuda]"], "build": build["requires"]}
    run: dict[str, str] = {}
    FOLDER.mkdir(exist_ok=True)
    for group, names in wanted.items():
        lines = entries(where, resolved(names), pins)
        text = f"# {HEADS[group]} Written by `make hashes` from constraints.txt.\n"
        if group == "run":
            run = lines
        elif group != "build":
            text += "-r run.txt\n"
            lines = {name: line for name, line in lines.items() if name not in run}
        (FOLDER / f"{group}.txt").write_text(text + "".join(lines.values()), encoding="utf-8")
        print(f"requirements/{group}.txt: {len(lines)} packages")


if __name__ == "__main__":
    main()
