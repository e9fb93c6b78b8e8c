"""The specs of the page on what each cure assumes."""

from pathlib import Path

import numpy as np
import pytest

from halfseen import read_spec, simulate

GALLERY = Path(__file__).parents[2] / "docs" / "gallery"
# Measured by other code: regret of UCB, hopeful, gamma upper and lower, strata, strata with
# variances and proxy after 20,000 rounds, 60 runs.
EXPECTED = {
    "at random": (111, 176, 142, 143, 155, 194, 1853),
    "by the covariate": (1840, 1755, 1814, 1821, 143, 191, 1755),
    "by the reward, with a proxy": (1931, 1881, 1912, 1915, 1693, 1654, 192),
    "best offer rarely seen": (1507, 8, 82, 1913, 1516, 1459, 8),
    "worst offer rarely seen": (1920, 1993, 1977, 426, 1863, 1843, 1993),
}
SPECS = ("missing-not-at-random.toml", "worst-rarely-seen.toml")


def test_the_specs_hold_every_world_of_the_table():
    worlds = [name for spec in SPECS for name in read_spec(GALLERY / spec).censorships]
    assert worlds == list(EXPECTED)


@pytest.mark.slow
@pytest.mark.parametrize("spec", SPECS)
def test_each_cure_works_in_its_own_world_only_as_measured_by_other_code(spec):
    study = read_spec(GALLERY / spec)
    regret = simulate(study).data.regret.values[0, ..., -1]
    for name, runs in zip(study.censorships, regret, strict=True):
        mean = runs.mean(axis=-1)
        error = runs.std(axis=-1, ddof=1) / np.sqrt(runs.shape[-1])
        off = np.abs(mean - EXPECTED[name])
        assert np.all(off <= 4.0 * np.sqrt(2.0) * error + 1.0), (name, mean.round(1), error)
