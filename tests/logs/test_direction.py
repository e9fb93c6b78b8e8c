"""The direction, the steps and the test of fit, where the truth is known."""

import numpy as np
import pandas as pd
import pytest

from halfseen import InvalidInput, audit
from halfseen.logs import direction
from halfseen.logs.direction import fit_direction
from halfseen.theory import worst_case_potential

pytestmark = pytest.mark.usefixtures("blank_pictures")


def sample(n, seed, size=3):
    rng = np.random.default_rng(seed)
    axis = rng.normal(size=size)
    axis /= np.linalg.norm(axis)
    rows = rng.normal(size=(n, size)) * np.geomspace(0.5, 5, size) + 2.0
    along = rows @ axis
    cuts = np.quantile(along, [0.4, 0.8])
    rates = np.array([0.9, 0.5, 0.1])
    seen = rng.random(n) < rates[np.searchsorted(cuts, along, side="right")]
    return rows, seen, axis, cuts, rates


@pytest.mark.parametrize("size", [1, 2, 5])
def test_the_truth_is_found(size):
    rows, seen, direction, cuts, rates = sample(6000, size, size)
    fit = fit_direction(rows, seen)
    assert fit.direction @ direction > 0.999
    assert len(fit.rates) == 3
    assert fit.rates == pytest.approx(rates, abs=0.04)
    assert fit.thresholds == pytest.approx(cuts, abs=0.1)
    assert fit.misfit > 1e-3
    assert fit.rows.sum() == 6000
    assert fit.dimensions["worst case"] == pytest.approx(size / fit.rates[-1])


def test_no_direction_where_there_is_none():
    rng = np.random.default_rng(0)
    fits = [fit_direction(rng.normal(size=(1500, 3)), rng.random(1500) < 0.4) for _ in range(10)]
    flat = [fit for fit in fits if len(fit.rates) == 1]
    assert len(flat) >= 9
    assert "Feedback does not fall along any direction" in str(flat[0])
    assert "weight" not in str(flat[0])


def test_what_is_not_along_one_direction_is_noticed():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(3000, 3))
    bent = rng.random(3000) < np.where(np.abs(rows[:, 1]) > 1, 0.2, 0.8)
    corner = rng.random(3000) < np.where((rows[:, 0] > 0) & (rows[:, 1] > 0), 0.2, 0.8)
    assert fit_direction(rows, bent).misfit < 1e-6
    assert fit_direction(rows, corner).misfit < 1e-2
    assert "does not depend on one direction only" in str(fit_direction(rows, bent))


@pytest.mark.slow
def test_a_long_log_is_sampled_and_says_so(monkeypatch):
    rows, seen, _, _, _ = sample(5000, 2, 2)
    frame = pd.DataFrame({"x": rows[:, 0], "y": rows[:, 1], "seen": seen})
    whole = audit(frame, observed="seen", features=["x", "y"]).direction
    assert whole.drawn_from is None
    assert "drawn at random" not in str(whole)
    monkeypatch.setattr(direction, "SAMPLED", 2000)
    part = audit(frame, observed="seen", features=["x", "y"]).direction
    assert "Fitted to 2,000 rows drawn at random from 5,000" in str(part)
    turned = np.degrees(np.arccos(min(1.0, part.direction @ whole.direction)))
    assert turned < 3 * part.intervals.angle_degrees


def test_the_potential_is_that_of_the_theory():
    rows, seen, _, _, _ = sample(2000, 2, 2)
    fit = fit_direction(rows, seen)
    expected = worst_case_potential(fit.censorship, horizon=500).value
    assert fit.potential(500) == expected
    assert fit.to_dict()["potential"] == fit.potential(2000)


def test_repeated_rows_are_tested_against_the_saturated_model():
    rng = np.random.default_rng(1)
    actions = rng.normal(size=(15, 2))
    rows = actions[rng.integers(0, 15, 4000)]
    falling = rng.random(4000) < np.where(rows[:, 0] > 0, 0.3, 0.7)
    assert fit_direction(rows, falling).misfit > 1e-3
    rates = rng.permutation(np.linspace(0.1, 0.9, 15))
    place = (rows[:, None, :] == actions).all(axis=2).argmax(axis=1)
    assert fit_direction(rows, rng.random(4000) < rates[place]).misfit < 1e-6


@pytest.mark.slow
def test_intervals_hold_the_truth():
    rows, seen, direction, cuts, rates = sample(2000, 4)
    fit = fit_direction(rows, seen, resamples=40)
    low, high = fit.intervals.rates
    assert (low - 0.02 <= rates).all()
    assert (rates <= high + 0.02).all()
    low, high = fit.intervals.thresholds
    assert (low - 0.1 <= cuts).all()
    assert (cuts <= high + 0.1).all()
    assert (
        np.degrees(np.arccos(min(1.0, fit.direction @ direction)))
        <= fit.intervals.angle_degrees + 1
    )


@pytest.mark.parametrize("unit", [1e-5, 1e-3, 1e5])
def test_units_of_the_features_change_nothing(unit):
    rows, seen, *_ = sample(800, 3)
    one, other = (
        fit_direction(rows * [1.0, scale, 1.0], seen, resamples=8) for scale in (1.0, unit)
    )
    assert other.standardized == pytest.approx(one.standardized, abs=1e-6)
    assert other.intervals.angle_degrees == pytest.approx(one.intervals.angle_degrees, rel=1e-4)
    assert other.rates == pytest.approx(one.rates)
    assert other.intervals.rates == pytest.approx(one.intervals.rates, abs=1e-6)
    weights = one.weights.records()
    assert weights[1]["standardised weight"] == pytest.approx(one.standardized[1])
    assert weights[1]["raw weight"] == one.direction[1]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (lambda x: 3.0 * x[:, 0] - 7.0, "must not determine each other; got 'a, c'"),
        (lambda x: 0.0 * x[:, 0] + 2.0, "must vary; got 'c'"),
    ],
)
def test_features_that_determine_each_other_are_refused(more, message):
    rows, seen, *_ = sample(500, 1, 2)
    wide = np.column_stack([rows, more(rows)])
    with pytest.raises(InvalidInput, match=message):
        fit_direction(wide, seen, names=("a", "b", "c"))


def test_features_that_nearly_determine_each_other_are_flagged():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(1500, 2))
    wide = np.column_stack([x, x[:, 0] + 0.01 * rng.normal(size=1500)])
    seen = rng.random(1500) < np.where(x[:, 0] > 0, 0.3, 0.8)
    fit = fit_direction(wide, seen, names=("a", "b", "c"), resamples=10)
    assert fit.collinear == ("a", "c")
    assert "a, c are nearly collinear" in str(fit)
    assert fit.intervals.angle_degrees > 10.0
    assert fit_direction(x, seen).collinear == ()


def weak(rng, n, size, fall):
    """Feedback that falls by little along one direction."""
    rows = rng.normal(size=(n, size)) * np.geomspace(1, 100, size)
    standard = rng.normal(size=size)
    standard /= np.linalg.norm(standard)
    rates = np.array([0.65, 0.65 - fall])
    along = rows / np.geomspace(1, 100, size) @ standard
    return rows, rng.random(n) < rates[(along > 0.3).astype(int)], standard, rates


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "size", "fall"), [(1000, 2, 0.15), (400, 2, 0.25), (1000, 4, 0.2), (3000, 2, 0.1)]
)
def test_intervals_hold_the_truth_in_93_of_100_weak_cases(n, size, fall):
    rng = np.random.default_rng(11)
    inside, held = [], []
    for seed in range(100):
        rows, seen, truth, rates = weak(rng, n, size, fall)
        fit = fit_direction(rows, seen, regions=2, resamples=30, seed=seed)
        turned = np.degrees(np.arccos(np.clip(fit.standardized @ truth, -1.0, 1.0)))
        inside.append(turned <= fit.intervals.angle_degrees)
        low, high = fit.intervals.rates
        held += ((low <= rates) & (rates <= high)).tolist()
    assert np.mean(inside) >= 0.93
    assert np.mean(held) >= 0.93


def test_in_an_audit(tmp_path):
    rows, seen, direction, *_ = sample(3000, 7)
    frame = pd.DataFrame(rows, columns=["x", "y", "z"]).assign(seen=seen).iloc[:1500]
    found = audit(frame, observed="seen", features=["x", "y", "z"])
    assert found.arms == ("all",)
    assert found.direction.direction @ direction > 0.99
    assert "Along the features" in str(found)
    assert "Feedback falls from 9" in found.answers[-1]
    assert len(found.to_dict()["direction"]["thresholds"]) == 2
    page = found.report(tmp_path).read_text()
    assert "Along a direction" in page
    assert (tmp_path / "charts" / "audit-direction.svg").exists()


def test_bad_input():
    with pytest.raises(InvalidInput, match="observed"):
        fit_direction([[1.0], [2.0]], [0, 2])
    with pytest.raises(InvalidInput, match="regions"):
        fit_direction([[1.0], [2.0]], [0, 1], regions=0)
    with pytest.raises(InvalidInput, match="features"):
        audit({"x": ["a"], "o": [1]}, observed="o", features=["x"])
    with pytest.raises(InvalidInput, match="Did you mean 'x'"):
        audit({"x": [1], "o": [1]}, observed="o", features=["xx"])
    with pytest.raises(InvalidInput, match="row without gaps"):
        audit({"x": [None], "o": [1]}, observed="o", features=["x"])
    with pytest.raises(InvalidInput, match="action"):
        audit({"x": [1], "o": [1]}, observed="o")


def test_the_test_of_the_direction_does_not_depend_on_units():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(1500, 3))
    seen = rng.random(1500) < np.where(rows @ [0.8, 0.6, 0.0] < 0.0, 0.75, 0.45)
    chances = [fit_direction(rows * unit, seen).misfit for unit in (1.0, [1e-3, 1e5, 7.0])]
    assert chances[0] == pytest.approx(chances[1], rel=1e-6)
    assert chances[0] > 1e-3
