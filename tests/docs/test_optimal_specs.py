"""The studies of docs/gallery/*.toml give the regrets that an independent program measured.

Means and standard errors are those of reference code that shares nothing with this package.
Policies with heavy tails (VIDS, Thompson sampling) are compared by means with large errors.
"""

import math
from dataclasses import replace
from pathlib import Path

import pytest

from halfseen import simulate
from halfseen.studies.spec import read_spec

GALLERY = Path(__file__).parents[2] / "docs" / "gallery"
QUICK = 60
# Spec: problem or censorship, policy: mean, standard error. At the horizon of 10,000.
REGRETS = {
    "optimal-gaussian": {
        "per arm": {
            "UCB": (582.2, 3.3),
            "KL-UCB, rounds": (255.9, 2.6),
            "KL-UCB": (221.7, 2.4),
            "IMED": (165.1, 2.0),
            "Thompson": (155.3, 3.3),
            "MOSS": (204.7, 2.2),
            "KL-UCB++": (188.5, 2.1),
        }
    },
    "optimal-poisson": {  # UCB and MOSS were told another noise there
        "per arm": {
            "KL-UCB, rounds": (200.0, 3.1),
            "KL-UCB": (155.2, 2.7),
            "IMED": (129.3, 3.1),
            "KL-UCB++": (170.0, 2.7),
        }
    },
    "optimal-bernoulli": {
        "per arm": {
            "UCB": (567.4, 0.8),
            "KL-UCB, rounds": (221.8, 2.5),
            "KL-UCB": (210.1, 2.4),
            "IMED": (140.9, 3.1),
            "Thompson": (112.1, 1.7),
            "MOSS": (283.1, 2.5),
            "KL-UCB++": (119.9, 1.8),
        }
    },
    "worst-case": {
        "gap 2": {
            "KL-UCB++, T/K": (1046, 7),
            "KL-UCB++, T/D": (756, 16),
            "KL-UCB++, D learned": (754, 16),
        },
        "gap 3": {
            "KL-UCB++, T/K": (1334, 15),
            "KL-UCB++, T/D": (835, 18),
            "KL-UCB++, D learned": (865, 18),
            "IMED": (1148, 17),
            "MOSS, T/D": (904, 14),
        },
        "gap 5": {
            "KL-UCB++, T/K": (1252, 24),
            "KL-UCB++, T/D": (774, 17),
            "KL-UCB++, D learned": (790, 17),
            "UCB": (2464, 37),
            "KL-UCB": (1363, 20),
            "MOSS, T/K": (1382, 21),
        },
    },
    "vids-control": {
        "control": {
            "LinUCB": (489, 17),
            "Thompson": (132, 8),
            "VIDS, p ignored": (120, 11),
            "VIDS, p known": (74, 7),
            "VIDS, p learned": (77, 6),
        }
    },
    "vids-survey": {
        "survey": {
            "VIDS, p ignored": (111, 13),
            "VIDS, p known": (43, 5),
            "VIDS, p learned": (64, 7),
        }
    },
    "vids-probes": {
        "probes seen": {
            "LinUCB": (379, 23),
            "VIDS, p ignored": (29, 5),
            "VIDS, p known": (20, 2),
            "VIDS, p learned": (67, 39),
        },
        "probes rare": {
            "LinUCB": (2717, 49),
            "Thompson": (184, 15),
            "VIDS, p ignored": (193, 20),
            "VIDS, p known": (33, 3),
            "VIDS, p learned": (39, 3),
        },
    },
}


def differences(study, table):
    """Yield how many standard errors each measured regret is from the expected one."""
    regret = simulate(study).data["regret"].isel(checkpoint=-1)
    for place, expected in table.items():
        kind = "problem" if place in study.problems else "censorship"
        other = "censorship" if kind == "problem" else "problem"
        for policy, (mean, error) in expected.items():
            found = regret.sel({kind: place, "policy": policy}).squeeze(other)
            own = float(found.std(ddof=1)) / math.sqrt(found.size)
            yield f"{place}, {policy}", (float(found.mean()) - mean) / math.hypot(own, error)


@pytest.mark.parametrize("name", ["optimal-gaussian", "optimal-bernoulli"])
def test_a_short_version_agrees_with_the_table(name):
    study = read_spec(GALLERY / f"{name}.toml")
    policies = {k: v for k, v in study.policies.items() if k in ("IMED", "KL-UCB", "KL-UCB++")}
    short = replace(study, policies=policies, replications=QUICK)
    table = {place: {k: row[k] for k in policies} for place, row in REGRETS[name].items()}
    assert {key: z for key, z in differences(short, table) if abs(z) > 4.0} == {}


@pytest.mark.slow
@pytest.mark.parametrize("name", REGRETS)
def test_the_study_agrees_with_the_table(name):
    study = read_spec(GALLERY / f"{name}.toml")
    assert {key: z for key, z in differences(study, REGRETS[name]) if abs(z) > 4.0} == {}


def test_every_spec_of_the_gallery_has_a_table():
    assert {path.stem for path in GALLERY.glob("*.toml")} == set(REGRETS)
