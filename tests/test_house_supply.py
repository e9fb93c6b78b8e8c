"""Pins, hashes, licences and the bill of materials agree, and name no host."""

import json
import re
import tomllib
from importlib.metadata import distribution
from pathlib import Path

import pytest
from dependencies import licence, runtime
from licences import PAGE, allowed, page
from packaging.utils import canonicalize_name
from pin_hashes import HEADS, constraints, usable
from sbom import bill

ROOT = Path(__file__).parent.parent
ENTRY = re.compile(
    r"^([a-z0-9-]+)==(\S+)(?: ; (?:sys_platform == \"\w+\"(?: or )?)+)?"
    r"((?: \\\n    --hash=sha256:[0-9a-f]{64})+)\n",
    re.M,
)


def text_of(group):
    return (ROOT / "requirements" / f"{group}.txt").read_text(encoding="utf-8")


def hashed(group):
    """Return the versions in a file of hashed requirements, by name."""
    return {name: version for name, version, _ in ENTRY.findall(text_of(group))}


def test_every_pin_has_its_hashes_and_every_hash_its_pin():
    found = {}
    for group in HEADS:
        found |= hashed(group)
    assert found == constraints()


@pytest.mark.parametrize("group", HEADS)
def test_hashed_requirements_hold_pins_and_hashes_and_no_host(group):
    rest = ENTRY.sub("", text_of(group)).splitlines()
    assert rest[0].startswith("# ")
    assert rest[1:] == (["-r run.txt"] if group in ("test", "cuda") else [])
    assert len(hashed(group)) == len(ENTRY.findall(text_of(group)))


def test_the_build_backend_is_pinned_with_all_it_needs():
    build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]
    assert build["build-backend"] == "hatchling.build"
    assert dict(text.split("==") for text in build["requires"]) == hashed("build")


def test_what_is_needed_to_run_is_what_the_hashed_file_installs():
    elsewhere = set(re.findall(r"^(\S+)==\S+ ;", text_of("run"), re.M))
    assert set(runtime()) == set(hashed("run")) - elsewhere


def test_installed_versions_are_the_pinned_ones():
    pins = constraints()
    assert {n: p.version for n, p in runtime().items()} == {n: pins[n] for n in runtime()}


def test_licences_on_the_page_are_those_of_the_installed_packages():
    assert PAGE.read_text(encoding="utf-8") == page(), "Run make licences."


def test_every_licence_is_permissive_or_named_on_the_page():
    listed = re.findall(r"^\| ([a-z0-9-]+) \| \d\S* \| (.+) \|$", page(), re.M)
    assert len(listed) > 50
    assert {"fastapi", "openpyxl"} < {name for name, _ in listed}
    assert {(name, text) for name, text in listed if not allowed(text)} == {
        ("certifi", "MPL-2.0"),
        ("psycopg", "LGPL-3.0-only"),
        ("psycopg-binary", "LGPL-3.0-only"),
    }


@pytest.mark.parametrize(
    ("expression", "fine"),
    [
        ("MIT", True),
        ("Apache-2.0 OR GPL-3.0-only", True),
        ("BSD-3-Clause AND MIT", True),
        ("BSD-3-Clause AND GPL-3.0-only", False),
        ("LicenseRef-Proprietary", False),
        ("unknown", False),
    ],
)
def test_licences_outside_the_list_are_refused(expression, fine):
    assert allowed(expression) is fine


@pytest.mark.parametrize(
    ("name", "expected"),
    [("numpy", "BSD-3-Clause AND"), ("numba", "BSD-2-Clause"), ("scipy", "BSD-3-Clause")],
)
def test_a_licence_is_read_from_metadata_of_any_age(name, expected):
    assert licence(distribution(name)).startswith(expected)


def test_the_bill_of_materials_lists_every_package_and_what_it_needs():
    made = bill()
    refs = {part["bom-ref"]: part for part in made["components"]}
    assert {part["name"] for part in refs.values()} == set(runtime())
    own = made["metadata"]["component"]["bom-ref"]
    graph = {row["ref"]: row["dependsOn"] for row in made["dependencies"]}
    assert set(graph) == {*refs, own}
    assert {ref for row in graph.values() for ref in row} == set(refs)
    assert {"pkg:pypi/" + name for name in ("numpy", "numba")} <= {
        ref.partition("@")[0] for ref in graph[own]
    }
    assert json.dumps(made) == json.dumps(bill())
    assert "://" not in json.dumps(made)


@pytest.mark.parametrize(
    ("filename", "kept"),
    [
        ("numpy-2.4.6-cp311-cp311-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl", True),
        ("numpy-2.4.6-cp314-cp314-macosx_14_0_arm64.whl", True),
        ("numpy-2.4.6-cp312-cp312-win_amd64.whl", True),
        ("numpy-2.4.6-cp314-cp314t-win_amd64.whl", False),
        ("numpy-2.4.6-cp310-cp310-win_amd64.whl", False),
        ("numpy-2.4.6-cp311-cp311-musllinux_1_2_x86_64.whl", False),
        ("numpy-2.4.5-cp311-cp311-win_amd64.whl", False),
        ("numpy-2.4.6.tar.gz", False),
    ],
)
def test_hashes_are_those_of_wheels_one_can_install(filename, kept):
    assert usable(canonicalize_name("numpy"), "2.4.6", filename) is kept
