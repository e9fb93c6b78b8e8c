"""Changes of rate at a fixed mix are found where they are, and not where there are none."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit
from scipy.stats import norm

from halfseen import audit
from halfseen.logs.drift import (
    Course,
    Strata,
    find_changes,
    levels_at_fixed_mix,
    merged,
    moment_in_words,
    score_over_time,
)
from halfseen.logs.rate_wobble import Wobble, find_wobble
from halfseen.logs.warnings.changing_rates import design_of_steps
from logs.warnings.made_logs import findings


def one_arm(rows, seen):
    bins = np.arange(len(rows))
    return Strata(np.zeros(len(rows), int), bins, np.asarray(rows, float), np.asarray(seen, float))


def changes(rows, seen, **more):
    found, edges = merged(score_over_time(one_arm(rows, seen), len(rows)))
    wobble = find_wobble(found.score, found.variance)
    damped = wobble.damp(found.score, found.information)
    places, p = find_changes(*damped, free=wobble.free, **more)
    return edges[list(places)].tolist(), p


@pytest.mark.slow
def test_the_information_is_the_covariance_of_the_score_given_the_margins():
    rng = np.random.default_rng(0)
    stratum = np.repeat([0, 1, 2], [40, 25, 60])
    group = rng.integers(0, 4, 125)
    seen = rng.random(125) < np.array([0.3, 0.6, 0.8])[stratum]
    rows = np.ones(125)
    found = score_over_time(Strata(stratum, group, rows, seen * 1.0), 4)
    order = np.arange(125)
    draws = []
    for _ in range(20_000):
        shuffled = order[np.lexsort((rng.random(125), stratum))]  # within strata
        expected = sum((seen[stratum == s].mean()) * (stratum == s) for s in range(3))
        draws.append(np.bincount(group, seen[shuffled] - expected, 4))
    np.testing.assert_allclose(np.cov(np.transpose(draws)), found.information, atol=0.35)
    np.testing.assert_allclose(found.information.sum(axis=0), 0.0, atol=1e-12)


def test_the_first_change_is_the_best_step_or_stretch_of_all():
    rng = np.random.default_rng(1)
    rows = np.full(9, 200)
    seen = rng.binomial(rows, np.where(np.arange(9) < 6, 0.5, 0.2))
    found = score_over_time(one_arm(rows, seen), 9)
    best = []
    for i in range(9):
        for j in range(i + 1, 10):
            inside = ((np.arange(9) >= i) & (np.arange(9) < j)) * 1.0
            variance = inside @ found.information @ inside
            if variance >= 2.0:
                best.append(((inside @ found.score) ** 2 / variance, i, j))
    z2, i, j = max(best)
    assert (i, j) in {(0, 6), (6, 9)}
    places, p = find_changes(found.score, found.information)
    assert places == (6,)
    steps = 8  # places at which a rate may step
    assert p == pytest.approx(2 * steps * 2 * norm.sf(np.sqrt(z2)), rel=1e-6)


def test_few_false_alarms_and_no_missed_change():
    rng = np.random.default_rng(0)
    rows = np.full(64, 80)
    false = sum(bool(changes(rows, rng.binomial(rows, 0.3))[0]) for _ in range(300))
    assert false <= 2
    rates = np.repeat([0.3, 0.5], [40, 24])
    for _ in range(20):
        (cut,), _ = changes(rows, rng.binomial(rows, rates))
        assert abs(cut - 40) <= 4


def test_a_dip_in_the_middle_is_found():
    rng = np.random.default_rng(2)
    rows, rates = np.full(60, 60), np.repeat([0.6, 0.4, 0.6], [24, 12, 24])
    for _ in range(10):
        cuts, _ = changes(rows, rng.binomial(rows, rates))
        assert len(cuts) == 2


def test_wobble_is_not_change():
    rng = np.random.default_rng(3)
    rows = np.full(100, 1_000_000)
    rates = 0.4 + 0.01 * rng.standard_normal(100)
    assert changes(rows, rng.binomial(rows, rates))[0] == []


def test_levels_solve_their_equation():
    rng = np.random.default_rng(4)
    stratum, group = np.divmod(np.arange(12), 4)
    rows = rng.integers(20, 90, 12).astype(float)
    seen = rng.binomial(rows.astype(int), 0.4).astype(float)
    strata = Strata(stratum, group, rows, seen)
    levels = levels_at_fixed_mix(strata, 4)
    total, rate = strata.totals
    for g in range(4):
        inside = group == g
        grid = np.linspace(-4, 4, 80_001)
        fitted = (rows[inside] * expit(logit(rate)[stratum[inside]] + grid[:, None])).sum(axis=1)
        shift = grid[np.argmin(np.abs(fitted - seen[inside].sum()))]
        assert levels[g] == pytest.approx(
            total @ expit(logit(rate) + shift) / total.sum(), abs=1e-4
        )


def test_a_learning_bandit_changes_the_mix_and_not_the_rate():
    rng = np.random.default_rng(6)
    day = np.repeat(np.arange(100), 100)
    best = rng.random(10_000) < 0.1 + 0.8 * day / 100
    seen = rng.random(10_000) < np.where(best, 0.9, 0.3)
    frame = pd.DataFrame({"a": best.astype(int), "o": seen, "day": day})
    found = audit(frame, action="a", observed="o", time="day")
    assert found.warnings == ()
    assert found.courses[0].changes == ()
    assert found.courses[0].shares == pytest.approx(0.6, abs=0.2)


def test_times_of_every_kind_and_in_any_order():
    rng = np.random.default_rng(5)
    day = rng.permutation(np.repeat(np.arange(100), 30))
    seen = rng.random(3000) < np.where(day < 70, 0.8, 0.2)
    frame = pd.DataFrame({"a": rng.integers(0, 2, 3000), "o": seen, "day": day})
    frame["stamp"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(frame.day, unit="D")
    frame["date"] = frame.stamp.dt.date
    frame["text"] = frame.stamp.astype(str)
    for column in ("day", "stamp", "date", "text"):
        found = audit(frame, action="a", observed="o", time=column)
        whole = found.courses[0]
        assert len(whole.changes) == 1
        start = whole.starts[whole.changes[0]]
        when = start if column == "day" else (start - 1704067200) / 86400
        assert 68 <= when <= 71
        assert whole.levels == pytest.approx((0.8, 0.2), abs=0.04)
        assert {course.name for course in found.courses} == {None, "0", "1"}
        assert whole.rows.sum() == 3000
        assert "falls-at-end" in [w.kind for w in found.warnings]


def test_changes_in_words():
    rows, starts = np.full(4, 100.0), 86_400.0 * np.arange(4)
    shares = np.full(4, 0.5)
    course = Course(None, starts, rows, shares, (2,), (0.5, 0.1), Wobble(), 0.0)
    assert course.in_words(dated=True) == "50.0% until 1970-01-03, then 10.0%"
    assert course.in_words(dated=False) == "50.0% until 172,800, then 10.0%"
    hourly = Course(None, starts / 24, rows, shares, (2, 3), (0.5, 0.1, 0.9), Wobble(), 0.0)
    words = "50.0% until 1970-01-01 02:00, then 10.0% until 1970-01-01 03:00, then 90.0%"
    assert hourly.in_words(dated=True) == words
    assert hourly.in_words(dated=True, most=2) == "50.0% until 1970-01-01 02:00, then ..."
    assert moment_in_words(1.728e17, dated=True) == "1.728e+17"
    assert moment_in_words(2007.0, dated=False) == "2007"


def test_one_moment_has_no_course():
    found = audit({"a": [1], "r": [1.0], "t": [5]}, action="a", reward="r", time="t")
    assert found.courses == ()


def nights_answer_less(seed, factor=1.0, days=10.0, rows=4000):
    """Return a log with a daily cycle, and a change of rate halfway by a factor."""
    rng = np.random.default_rng(seed)
    time = np.sort(rng.uniform(0, days, rows))
    arm = rng.integers(0, 3, rows)
    day = (time % 1 > 0.3) & (time % 1 < 0.9)
    chance = np.array([0.3, 0.6, 0.85])[arm] * np.where(day, 1.0, 0.6)
    chance = chance * np.where(time > days / 2, factor, 1.0)
    when = pd.Timestamp("2026-01-05") + pd.to_timedelta(time, unit="D")
    return pd.DataFrame({"arm": arm, "seen": rng.random(rows) < chance, "time": when})


def count_changes(seeds, **kind):
    roles = {"action": "arm", "observed": "seen", "time": "time"}
    found = (findings(nights_answer_less(seed, **kind), roles).warnings for seed in seeds)
    return sum(bool({w.kind for w in warnings} & {"drift", "falls-at-end"}) for warnings in found)


def test_a_daily_cycle_in_a_short_log_is_no_change_of_rate():
    assert count_changes([9, 10, 17, 24]) == 0
    assert count_changes([0, 1], factor=0.75) == 2


@pytest.mark.slow
def test_a_daily_cycle_is_seldom_taken_for_a_change_of_rate():
    assert count_changes(range(100)) <= 2


def test_the_design_effect_is_that_of_whole_units_where_they_come_and_go():
    bins = 120
    unit = np.repeat(np.arange(400), 8)
    all_or_nothing = np.repeat((np.arange(400) % 2).astype(float), 8)
    spread = np.tile(np.arange(8) * bins // 8, 400)
    gone = np.repeat(np.arange(400) * (bins - 8) // 400, 8) + np.tile(np.arange(8), 400)
    one, rows = np.zeros(len(unit), dtype=np.int64), np.ones(len(unit))
    stays = design_of_steps(unit, one, spread, rows, all_or_nothing)
    leaves = design_of_steps(unit, one, gone, rows, all_or_nothing)
    assert stays < 0.5  # as many rows of a unit before a step as after it
    assert 6.0 < leaves < 8.0  # eight rows that count as one


def test_the_wobble_of_batches_is_estimated_though_the_rate_changes():
    rng = np.random.default_rng(11)
    found = []
    for _ in range(300):
        rates = expit(0.3 * rng.normal(size=60) + np.where(np.arange(60) < 30, 0.0, 1.0))
        score = score_over_time(one_arm(np.full(60, 200), rng.binomial(200, rates)), 60)
        found.append(find_wobble(score.score, score.variance))
    # The shift of log-odds per unit of information is 0.3, less where rates are far from the mean.
    assert np.mean([wobble.variance for wobble in found]) == pytest.approx(0.09, abs=0.012)
    assert np.median([wobble.free for wobble in found]) < 40.0


def test_counts_that_do_not_wobble_are_tested_with_known_errors():
    rng = np.random.default_rng(12)
    plain = rng.binomial(200, 0.5, (300, 60))
    scores = [score_over_time(one_arm(np.full(60, 200), seen), 60) for seen in plain]
    free = [find_wobble(score.score, score.variance).free for score in scores]
    assert np.mean(np.array(free) > 100.0) > 0.9
    found = scores[0]
    kept = Wobble().damp(found.score, found.information)
    assert kept == (found.score, found.information)


def test_damping_is_generalized_least_squares_with_a_random_shift_of_each_slice():
    rng = np.random.default_rng(13)
    seen = rng.binomial(80, 0.4, 7)
    found = score_over_time(one_arm(np.full(7, 80), seen), 7)
    score, information = Wobble(0.2).damp(found.score, found.information)
    covariance = found.information + 0.2 * found.information @ found.information
    step = found.information @ (np.arange(7) >= 4)
    inverse = np.linalg.pinv(covariance, hermitian=True)
    after = np.arange(7) >= 4
    assert score[after].sum() == pytest.approx(step @ inverse @ found.score)
    assert information[after][:, after].sum() == pytest.approx(step @ inverse @ step)


def batches(rng, count, uneven, drop=0.0):
    """Return the score of batches of 4,000 rows in all whose rates differ by chance."""
    weight = rng.gamma(1.0, 1.0, count) if uneven else np.ones(count)
    rows = np.maximum(rng.multinomial(4000, weight / weight.sum()), 1)
    shift = 0.3 * rng.normal(size=count) - drop * (np.arange(count) >= count // 2)
    return changes(rows, rng.binomial(rows, expit(shift)))[0]


@pytest.mark.parametrize(("count", "uneven"), [(8, False), (10, True), (20, True), (40, True)])
def test_batches_that_differ_by_chance_are_no_change(count, uneven):
    rng = np.random.default_rng(count)
    assert sum(bool(batches(rng, count, uneven)) for _ in range(100)) <= 3


def test_a_change_among_batches_that_differ_by_chance_is_found():
    rng = np.random.default_rng(14)
    assert sum(bool(batches(rng, 40, False, 1.0)) for _ in range(40)) >= 32
