"""Print the least version of every dependency: python tools/least_versions.py (make test-least)."""

import tomllib
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parent.parent


def least_versions(requirements: list[str]) -> list[str]:
    """Return each requirement at its least version.

    >>> least_versions(["numpy>=2.0.2", "numba<0.69,>=0.66"])
    ['numpy==2.0.2', 'numba==0.66']
    """
    found = []
    for line in requirements:
        wanted = Requirement(line)
        (least,) = (each.version for each in wanted.specifier if each.operator == ">=")
        found.append(f"{wanted.name}=={least}")
    return found


if __name__ == "__main__":
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    print("\n".join(least_versions(project["dependencies"])))
