"""Every claim, run: the verdict recorded, and a wrong constant found out."""

import json
from functools import cache

import pytest

from halfseen.claims import Laboratory, claims, verify
from halfseen.claims.claim import CORRECTED, HOLDS, REFUTED

# A factor for the number claimed that makes it wrong, near the one at which the claim falls.
WRONG = {
    "optimism-arms": 0.04,
    "censoring-arms": 2e-5,
    "tails": 0.5,
    "notation": 0.97,
    "potential-control-arms": 0.4,
    "potential-control-arms-half": 0.6,
    "potential-control-arms-one": 0.03,
    "orders-of-potentials": 1.2,
    "water-filling": 0.99,
    "heteroskedastic-potential": 0.04,
    "exact-identity": 1.05,
    "fluid-bound": 0.99,
    "potential-reduction-arms": 0.12,
    "theorem-arms": 0.01,
    "heteroskedastic-arms": 0.01,
    "instance-arms": 0.1,
    "heteroskedastic-instance": 0.07,
    "instance-count": 0.9,
    "wald-bound": 0.9,
    "scaling-dimension": 1.2,
    "scaling-horizon": 1.2,
    "scaling-instance": 1.25,
    "arm-splitting": 1.1,
    "inverse-moments": 5.0,
    "offline-equivalent": 1.05,
    "adaptivity-gain": 1.05,
    "single-monitoring": 1.2,
    "optimism-linear": 0.4,
    "optimism-linear-proof": 0.15,
    "censoring-linear": 0.005,
    "censoring-linear-sharp": 0.9,
    "potential-control-linear": 0.3,
    "pmin-bound": 0.9,
    "elliptical-potential": 0.9,
    "elliptical-potential-one": 0.9,
    "uniform-model": 0.95,
    "log-scaling": 0.8,
    "dynamics": 1.02,
    "dual-reachability": 1.02,
    "path-potential": 0.98,
    "path-formula": 1.02,
    "one-step": 1.01,
    "path-dimension": 0.999,
    "smallest-dimension": 1.01,
    "single-threshold": 0.999,
    "theorem-thresholds": 0.99,
    "single-threshold-largest": 1.001,
    "largest-potential": 0.99,
    "largest-expected-potential": 0.96,
    "potential-reduction-linear": 0.05,
    "theorem-linear": 0.05,
    "law-sphere": 1.2,
    "law-fixed": 1.2,
    "law-ties": 1.1,
    "law-contexts": 1.15,
    "glm-width": 0.05,
    "glm-regret": 0.05,
    "glm-exploration": 0.8,
    "glm-slowdown": 1.2,
}
# Factors that would make true what is printed and is not.
KIND = {
    "tails": 1e6,
    "notation": 3.0,
    "potential-control-arms-half": 2.0,
    "heteroskedastic-potential": 1.05,
    "optimism-linear-proof": 10.0,
    "elliptical-potential-one": 20.0,
    "scaling-dimension": 0.5,
    "glm-width": 15.0,
}


# They play linear and generalized linear loops, which take minutes to compile the first time.
COMPILED = {
    "optimism-linear",
    "optimism-linear-proof",
    "potential-control-linear",
    "pmin-bound",
    "uniform-model",
    "largest-expected-potential",
    "potential-reduction-linear",
    "theorem-linear",
    "law-sphere",
    "law-fixed",
    "law-ties",
    "law-contexts",
    "glm-width",
    "glm-regret",
    "glm-exploration",
    "glm-slowdown",
}


def each(names):
    marks = {name: [pytest.mark.slow] if name in COMPILED else [] for name in names}
    return pytest.mark.parametrize("name", [pytest.param(n, marks=marks[n]) for n in names])


@cache
def found(name):
    return verify([name], quick=True)[0]


def test_no_claim_goes_unwatched():
    assert list(WRONG) == list(claims())
    assert set(WRONG) > COMPILED


@each(WRONG)
def test_the_verdict_is_as_recorded(name):
    assert found(name).verdict == claims()[name].expected


@each(WRONG)
def test_a_wrong_constant_is_refuted(name):
    assert found(name).evidence.verdict(distort=WRONG[name]) == REFUTED


@each(KIND)
def test_a_constant_large_enough_would_have_held(name):
    assert found(name).verdict != HOLDS
    assert found(name).evidence.verdict(distort=KIND[name]) == HOLDS


@each(WRONG)
def test_equalities_are_measured_finely_enough(name):
    evidence = found(name).evidence
    for one in (*evidence.printed, *evidence.corrected):
        assert one.decided, one.where


@each(WRONG)
def test_what_was_found_can_be_written_down(name):
    json.dumps(found(name).to_dict(), allow_nan=False)
    if found(name).evidence.curve is not None:
        json.dumps([[list(line.x), list(line.y)] for line in found(name).evidence.curve.lines])


@each(WRONG)
def test_corrections_are_needed_and_enough(name):
    assert bool(found(name).evidence.corrected) == (claims()[name].expected == CORRECTED)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 3, 4])
def test_other_seeds_give_the_same_verdicts(seed):
    wrong = [f.claim.name for f in verify(quick=True, seed=seed) if not f.as_recorded]
    assert wrong == []


def test_a_laboratory_of_other_seed_plays_other_numbers():
    claim = claims()["exact-identity"]
    first, second = (claim.run(Laboratory(seed=seed)).printed[0] for seed in (1, 2))
    assert first.measured != second.measured
