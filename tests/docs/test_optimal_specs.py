"""The studies of docs/gallery/*.toml give the regrets that an independent program measured.

Means and standard errors are those of reference code that shares nothing with this package.
Policies with heavy tails (VIDS, Thompson sampling) are compared by means with large errors.
At other horizons than the spec's the study is run with `--horizon` and `--replications`.
"""

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from halfseen import ArmedBandit, LinearPolicy, simulate
from halfseen.studies.spec import read_spec

GALLERY = Path(__file__).parents[2] / "docs" / "gallery"
QUICK = 60
# Spec; rounds and replications; problem or censorship; policy: mean, standard error.
REGRETS = {
    "optimal-gaussian": {
        (10_000, 1000): {
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
        (100_000, 200): {
            "per arm": {
                "UCB": (1089, 11),
                "KL-UCB, rounds": (407, 8),
                "KL-UCB": (355, 7),
                "IMED": (244, 6),
                "Thompson": (277, 51),
                "MOSS": (329, 7),
                "KL-UCB++": (288, 6),
            }
        },
        (1_000_000, 60): {
            "per arm": {
                "UCB": (1532, 32),
                "KL-UCB, rounds": (569, 16),
                "KL-UCB": (466, 14),
                "IMED": (317, 13),
                "Thompson": (599, 292),
                "MOSS": (470, 13),
                "KL-UCB++": (409, 16),
            }
        },
    },
    "optimal-poisson": {
        (10_000, 500): {
            "per arm": {
                "UCB": (464.0, 3.6),
                "KL-UCB, rounds": (200.0, 3.1),
                "KL-UCB": (155.2, 2.7),
                "IMED": (129.3, 3.1),
                "Thompson": (238.1, 14.5),
                "MOSS": (215.6, 2.7),
                "KL-UCB++": (170.0, 2.7),
            }
        },
        (100_000, 120): {
            "per arm": {
                "UCB": (991, 13),
                "KL-UCB, rounds": (329, 10),
                "KL-UCB": (265, 7),
                "IMED": (188, 9),
                "Thompson": (343, 53),
                "MOSS": (345, 7),
                "KL-UCB++": (262, 7),
            }
        },
        (1_000_000, 40): {
            "per arm": {
                "UCB": (1433, 33),
                "KL-UCB, rounds": (426, 22),
                "KL-UCB": (374, 21),
                "IMED": (255, 20),
                "Thompson": (394, 51),
                "MOSS": (505, 18),
                "KL-UCB++": (378, 17),
            }
        },
    },
    "optimal-bernoulli": {
        (10_000, 400): {
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
        (100_000, 80): {
            "per arm": {
                "UCB": (2771, 12),
                "KL-UCB, rounds": (365, 7),
                "KL-UCB": (374, 9),
                "IMED": (201, 5),
                "Thompson": (182, 4),
                "MOSS": (661, 9),
                "KL-UCB++": (216, 7),
            }
        },
        (1_000_000, 40): {
            "per arm": {
                "UCB": (4725, 32),
                "KL-UCB": (439, 21),
                "IMED": (252, 12),
                "Thompson": (239, 15),
                "MOSS": (1073, 15),
                "KL-UCB++": (294, 18),
            }
        },
    },
    "worst-case": {
        (10_000, 300): {
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
        }
    },
    "vids-control": {
        (10_000, 80): {
            "control": {
                "LinUCB": (489, 17),
                "Thompson": (132, 8),
                "VIDS, p ignored": (120, 11),
                "VIDS, p known": (74, 7),
                "VIDS, p learned": (77, 6),
            }
        }
    },
    "vids-survey": {
        (10_000, 80): {
            "survey": {
                "LinUCB": (212, 4),
                "Thompson": (95, 8),
                "VIDS, p ignored": (111, 13),
                "VIDS, p known": (43, 5),
                "VIDS, p learned": (64, 7),
            }
        }
    },
    "vids-probes": {
        (10_000, 80): {
            "probes seen": {
                "LinUCB": (379, 23),
                "Thompson": (47, 5),
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
        }
    },
    "vids-threshold": {
        (10_000, 80): {
            "threshold": {
                "LinUCB": (549, 13),
                "Thompson": (269, 39),
                "VIDS, p ignored": (206, 37),
                "VIDS, p known": (228, 36),
                "VIDS, p learned": (245, 38),
            }
        }
    },
    "vids-arms": {
        (10_000, 50): {
            "per arm": {
                "Thompson": (137, 7),
                "VIDS, p ignored": (188, 37),
                "VIDS, p known": (105, 11),
                "VIDS, p learned": (110, 21),
            }
        }
    },
    "optimism": {
        (10_000, 32): {
            "all seen": {
                "LinUCB": (42.5, 3.0),
                "Thompson": (19.8, 3.4),
                "VIDS, p learned": (8.3, 1.3),
            },
            "probe rare": {
                "LinUCB": (3852, 401),
                "Thompson": (344, 51),
                "VIDS, p ignored": (513, 256),
                "VIDS, p known": (277, 105),
                "VIDS, p learned": (284, 67),
            },
        },
        (100_000, 32): {
            "all seen": {
                "LinUCB": (110, 17),
                "Thompson": (62, 10),
                "VIDS, p learned": (16, 3),
            },
            "probe rare": {
                "LinUCB": (5127, 557),
                "Thompson": (582, 82),
                "VIDS, p ignored": (817, 232),
                "VIDS, p known": (350, 123),
                "VIDS, p learned": (367, 89),
            },
        },
    },
}


def compared(study, table):
    """Yield each measured regret of a table: its place, mean, error, median, and the distance.

    The distance is counted in standard errors of the difference of the two means.
    """
    regret = simulate(study).data["regret"].isel(checkpoint=-1)
    for place, expected in table.items():
        kind = "problem" if place in study.problems else "censorship"
        other = "censorship" if kind == "problem" else "problem"
        for policy, (mean, error) in expected.items():
            found = regret.sel({kind: place, "policy": policy}).squeeze(other)
            own = float(found.std(ddof=1)) / math.sqrt(found.size)
            distance = (float(found.mean()) - mean) / math.hypot(own, error)
            yield f"{place}, {policy}", float(found.mean()), own, float(found.median()), distance


def far(study, table):
    return {row[0]: row for row in compared(study, table) if not abs(row[-1]) <= 4.0}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["optimal-gaussian", "optimal-bernoulli"])
def test_a_short_version_agrees_with_the_table(name):
    study = read_spec(GALLERY / f"{name}.toml")
    policies = {k: v for k, v in study.policies.items() if k in ("IMED", "KL-UCB", "KL-UCB++")}
    short = replace(study, policies=policies, replications=QUICK)
    ((_, rows), *_) = REGRETS[name].items()
    table = {place: {k: row[k] for k in policies} for place, row in rows.items()}
    assert far(short, table) == {}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "horizon", "replications"),
    [(name, *size) for name, sizes in REGRETS.items() for size in sizes],
)
def test_the_study_agrees_with_the_table(name, horizon, replications):
    """`halfseen study docs/gallery/NAME.toml --horizon T --replications N` gives these numbers."""
    study = read_spec(GALLERY / f"{name}.toml")
    table = REGRETS[name][horizon, replications]
    wanted = {policy for rows in table.values() for policy in rows}
    policies = {k: v for k, v in study.policies.items() if k in wanted}
    sized = replace(study, horizon=horizon, replications=replications, policies=policies)
    assert far(sized, table) == {}


@pytest.mark.slow
def test_in_the_worst_case_with_the_rarely_seen_arm_best_policies_hardly_differ():
    """Another program found 622 for UCB, and 290 to 390 for all others, over the same gaps."""
    study = read_spec(GALLERY / "worst-case.toml")
    unit = math.sqrt(sum(1.0 / p for p in study.censorships["per arm"].observe) / 10_000)
    problems = {f"{c}": ArmedBandit([0, 0, 0, 0, c * unit]) for c in (1, 2, 3, 5)}
    played = simulate(replace(study, problems=problems, replications=150))
    regret = played.data["regret"].isel(checkpoint=-1, censorship=0)
    worst = regret.mean("replication").max("problem")
    error = 4.0 * float(regret.std("replication").max()) / math.sqrt(150)
    assert float(worst.sel(policy="UCB")) == pytest.approx(622, abs=error)
    others = worst.drop_sel(policy="UCB")
    assert 290 - error < float(others.min()) < float(others.max()) < 390 + error


def tight(mean, square, spread, shift, action, clock, stream, table):
    """Return the mean plus sigma sqrt(2 log t) times the width, which nothing is proved of."""
    return mean + table[0] * math.sqrt(2.0 * math.log(clock) * square)


@dataclass(frozen=True)
class TightLinUCB(LinearPolicy):
    kind: ClassVar[str] = "tight-lin-ucb"
    regularization: float = 1.0
    index = staticmethod(tight)

    def table(self, setting):
        return np.array([setting.noise])


TIGHT = {
    "vids-control": {"control": (223, 12)},
    "vids-survey": {"survey": (138, 5)},
    "vids-probes": {"probes seen": (110, 9), "probes rare": (939, 46)},
    "vids-threshold": {"threshold": (264, 15)},
    "optimism": {"all seen": (22, 8), "probe rare": (1731, 274)},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", TIGHT)
def test_linucb_with_a_tight_radius_agrees_with_the_table(name):
    study = read_spec(GALLERY / f"{name}.toml")
    policies = {"tight": TightLinUCB(study.policies["LinUCB"].regularization)}
    table = {place: {"tight": row} for place, row in TIGHT[name].items()}
    assert far(replace(study, policies=policies), table) == {}


def test_every_spec_of_the_gallery_has_a_table():
    specs = {path.stem for path in GALLERY.glob("*.toml")}
    elsewhere = {"missing-not-at-random", "worst-rarely-seen"}  # see test_missing_specs
    assert {name for name in specs - elsewhere if not name.startswith("late-")} == set(REGRETS)
