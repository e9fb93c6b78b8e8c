"""Write a software bill of materials of what is installed: python tools/sbom.py FILE (make sbom).

CycloneDX 1.6 in JSON: every package that halfseen needs to run, as installed, with its licence and
what it needs in turn. The same environment gives the same file.
"""

from __future__ import annotations

import json
import sys
import uuid
from importlib.metadata import Distribution
from pathlib import Path
from typing import Any

from dependencies import PROJECT, licence, needs, runtime
from packaging.utils import canonicalize_name


def component(name: str, package: Distribution) -> dict[str, Any]:
    """Return a package as a component."""
    address = purl(name, package.version)
    about = {"type": "library", "bom-ref": address, "name": name, "version": package.version}
    return about | {"licenses": [{"expression": licence(package)}], "purl": address}


def purl(name: str, version: str) -> str:
    """Return the package URL: a name for a package on the index, without a host."""
    return f"pkg:pypi/{name}@{version}"


def bill() -> dict[str, Any]:
    """Return the whole bill."""
    packages = runtime()
    own = purl(PROJECT["name"], PROJECT["version"])
    refs = {name: purl(name, package.version) for name, package in packages.items()}
    direct = [canonicalize_name(text.partition(">")[0]) for text in PROJECT["dependencies"]]
    graph = {own: direct} | {
        refs[name]: [canonicalize_name(r.name) for r in needs(package)]
        for name, package in packages.items()
    }
    body: dict[str, Any] = {
        "metadata": {
            "component": {
                "type": "library",
                "bom-ref": own,
                "name": PROJECT["name"],
                "version": PROJECT["version"],
                "licenses": [{"expression": PROJECT["license"]}],
                "purl": own,
            }
        },
        "components": [component(name, package) for name, package in packages.items()],
        "dependencies": [
            {"ref": ref, "dependsOn": sorted({refs[name] for name in names})}
            for ref, names in graph.items()
        ],
    }
    number = uuid.uuid5(uuid.NAMESPACE_OID, json.dumps(body, sort_keys=True))
    head = {"bomFormat": "CycloneDX", "specVersion": "1.6", "serialNumber": number.urn}
    return head | {"version": 1} | body


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps(bill(), indent=2) + "\n", encoding="utf-8")
