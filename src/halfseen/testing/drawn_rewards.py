"""Checks that every reward law must pass, including your own."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from halfseen.checks import Vector
from halfseen.draws import REWARD, Stream
from halfseen.engine.specialise import compiled
from halfseen.errors import InvalidInput, shorten
from halfseen.problems import ArmedBandit, RewardLaw
from halfseen.testing.contract import (
    check_constants,
    check_kind,
    check_methods,
    check_pure,
    check_signature,
    compiling,
    promised,
)

if TYPE_CHECKING:
    from halfseen.problems.reward_laws import draw_normal as draw

_DRAWS = 20_000
_ERRORS = 6.0  # standard errors: a correct law fails with probability 2e-9
_TAIL = 200  # number of largest deviations from which the tail index is estimated
_LIGHT = 2.6  # tail index above which a variance is assumed to exist
_MEANLESS = 1.1  # tail index below which a mean is assumed not to exist
_OTHER_MEANS = (-1.0, 0.0, 2.0)


@promised
def check_reward_law(
    law: RewardLaw, *, means: Any = (0.5, 0.25, 1.0), noise: Any = None, seed: int = 5
) -> None:
    """Raise AssertionError unless a reward law fulfils the contract of `RewardLaw`.

    It checks that

    - it is a frozen dataclass with a name, made of code and values;
    - the kernel `draw` returns a finite number, the same for the same arguments, and modifies
      nothing;
    - draws have a mean (Cauchy's law, for example, has none);
    - the compiled kernel draws the same numbers, to the last bit;
    - draws are independent across observations, arms, replications and seeds;
    - their mean is that of the arm, also for other means that `check` accepts;
    - their standard deviation is at most `scale`, and equal to it if the law takes noise and does
      not override `scale`. Laws whose tails are too heavy for a variance are exempt;
    - if `values` lists the possible rewards, every draw is one of them, with the stated frequency;
    - every draw lies within `limits`, is `possible`, and is at least 0 if `non_negative` is set;
    - for a law with `sub_gaussian` set, large deviations are no more frequent than
      2 exp(-t^2 / (2 scale^2)).

    Examples
    --------
    >>> from halfseen import StudentT
    >>> check_reward_law(StudentT(2.5))
    """
    check_kind(law, RewardLaw)
    name = type(law).__name__
    assert callable(getattr(law, "draw", None)), f"{name}.draw must be a kernel"
    check_signature(law, "draw", "table, arm, count, stream")
    check_methods(law, scale="means, noise", values="mean, noise", table="means, noise")
    bandit = _bandit(law, means, noise)
    _check_draws(law, bandit, seed)
    for mean in _OTHER_MEANS:
        try:
            other = _bandit(law, [mean], None)
        except AssertionError:
            continue
        row = _drawn(law, _constants(law, other), (seed, 2, 3, REWARD))[0]
        what = f"`check` accepts a mean of {mean:g}, for which {_DRAWS:,} draws"
        _check_mean(law, row, other, 0, what)


def _bandit(law: RewardLaw, means: Any, noise: Any) -> ArmedBandit:
    try:
        return ArmedBandit(means, noise=noise if law.takes_noise else None, reward=law)
    except InvalidInput as error:
        raise AssertionError(str(error)) from None


def _constants(law: RewardLaw, bandit: ArmedBandit) -> Vector:
    spread = np.ones(bandit.arms) if bandit.noise is None else np.array(bandit.noise)
    table = check_constants(law, np.array(bandit.means), spread)
    assert table.ndim == 2 and len(table) == bandit.arms, (  # noqa: PT018
        f"{type(law).__name__}.table must return one row of constants per arm: an array of shape"
        f" ({bandit.arms}, n), not {table.shape}"
    )
    return table


def _check_draws(law: RewardLaw, bandit: ArmedBandit, seed: int) -> None:
    name, table, stream = f"{type(law).__name__}.draw", _constants(law, bandit), (seed, 2, 3)
    for arm in range(bandit.arms):
        value = check_pure(name, law.draw, table, arm, arm, (*stream, REWARD))
        assert math.isfinite(value), f"{name} must return a finite number, not {value}"
    drawn = _drawn(law, table, (*stream, REWARD))
    wrong = drawn[~np.isfinite(drawn)]
    assert not len(wrong), (
        f"{name} must return finite numbers: {len(wrong):,} of {drawn.size:,} draws are not, the"
        f" first is {wrong[0]}"
    )
    index = float(np.mean([tail_index(np.abs(row - np.median(row))) for row in drawn]))
    assert index > _MEANLESS, (
        f"{name} must have a mean, by which regret is counted: its tail index is about {index:.2f},"
        " and at 1 or below no mean exists"
    )
    for arm, row in enumerate(drawn):
        _check_mean(law, row, bandit, arm, f"{_DRAWS:,} draws of arm {arm}")
        _check_scale(law, row, bandit.means[arm], float(bandit.scale[arm]), arm)
        _check_values(law, row, bandit, arm)
    _check_range(law, drawn, bandit)
    _check_independence(name, "observation to observation", drawn[:, 1:], drawn[:, :-1])
    if bandit.arms > 1:
        _check_independence(name, "arm to arm", drawn[1:], drawn[:-1])
    for place, what in ((2, "replication to replication"), (0, "seed to seed")):
        key = [*stream, REWARD]
        key[place] += 1
        again = _drawn(law, table, (key[0], key[1], key[2], key[3]))
        _check_independence(name, what, drawn, again)


def _check_mean(law: RewardLaw, row: Vector, bandit: ArmedBandit, arm: int, what: str) -> None:
    mean = bandit.means[arm]
    spread = float(row.std()) or float(bandit.scale[arm])  # rare rewards may never be drawn
    error = _ERRORS * spread / math.sqrt(_DRAWS) + 1e-12 * abs(mean)
    assert abs(row.mean() - mean) <= error, (
        f"{type(law).__name__}.draw must have the arm's mean, by which regret is counted: {what}"
        f" have a mean of {row.mean():.4g}, not {mean:g}"
    )


def _check_scale(law: RewardLaw, row: Vector, mean: float, scale: float, arm: int) -> None:
    away, name = np.abs(row - mean), type(law).__name__
    if law.sub_gaussian and scale > 0.0:
        _check_tails(name, away / scale, arm)
    if not law.sub_gaussian and tail_index(away) < _LIGHT:
        return
    largest = max(float(away.max()), 1e-300)
    squares = (away / largest) ** 2
    spread = largest * math.sqrt(float(squares.mean()))
    kurtosis = float(np.mean(squares**2)) / max(float(squares.mean()) ** 2, 1e-300)
    error = _ERRORS * spread * math.sqrt(max(kurtosis - 1.0, 0.0) / (4.0 * _DRAWS)) + 1e-12
    told = f"{_DRAWS:,} draws of arm {arm} have {spread:.4g}, and `scale` says {scale:g}"
    assert spread <= scale + error, (
        f"{name}.scale, which policies use, must not be below the standard deviation: {told}"
    )
    own = type(law).scale is not RewardLaw.scale
    assert own or not law.takes_noise or spread >= scale - error, (
        f"{name}.draw must have the noise as its standard deviation: {told}. Return another one, or"
        " a bound on it, from a method `scale`"
    )


def _check_values(law: RewardLaw, row: Vector, bandit: ArmedBandit, arm: int) -> None:
    noise = np.broadcast_to(1.0 if bandit.noise is None else np.array(bandit.noise), bandit.arms)
    listed = law.values(bandit.means[arm], float(noise[arm]))
    if not listed:
        return
    name = f"{type(law).__name__}.values"
    try:
        rewards, chances = np.array(listed, dtype=float).T
    except (TypeError, ValueError):
        raise AssertionError(
            f"{name} must return pairs of a reward and its probability, not {shorten(listed)}"
        ) from None
    assert np.all(chances >= 0.0), f"{name} must give probabilities"
    assert abs(chances.sum() - 1.0) <= 1e-9, f"{name} must give probabilities that sum to 1"
    places = np.abs(row[:, None] - rewards).argmin(axis=1)
    strange = np.abs(row - rewards[places]) > 1e-9 * np.maximum(np.abs(row), 1.0)
    assert not strange.any(), f"{name} must list every reward; {row[strange][0]:g} was drawn"
    shares = np.bincount(places, minlength=len(rewards)) / len(row)
    error = _ERRORS * np.sqrt(chances * (1.0 - chances) / len(row)) + 10.0 / len(row)
    wrong = np.flatnonzero(np.abs(shares - chances) > error)
    assert not len(wrong), (
        f"{name} must give the probability of each reward: {rewards[wrong[0]]:g} makes up"
        f" {shares[wrong[0]]:.4g} of {_DRAWS:,} draws of arm {arm}, not {chances[wrong[0]]:.4g}"
    )


def _check_range(law: RewardLaw, drawn: Vector, bandit: ArmedBandit) -> None:
    """Check what policies, agents and the theory are told of the rewards that there can be."""
    name, means = type(law).__name__, np.array(bandit.means)
    try:
        low, high = (np.asarray(end, dtype=float) for end in law.limits(means, bandit.scale))
    except (TypeError, ValueError):
        low = high = np.empty(0)
    assert low.shape == high.shape == means.shape, (
        f"{name}.limits must return the smallest and the largest reward, each with one number per"
        " arm"
    )
    rounding = 1e-9 * np.abs(drawn).max(axis=1)
    beyond = (drawn < (low - rounding)[:, None]) | (drawn > (high + rounding)[:, None])
    for arm in np.flatnonzero(beyond.any(axis=1))[:1]:
        raise AssertionError(
            f"{name}.limits must contain every reward: {low[arm]:g} to {high[arm]:g} does not"
            f" contain {drawn[arm][beyond[arm]][0]:g}, drawn of arm {arm}"
        )
    assert not law.non_negative or drawn.min() >= 0.0, (
        f"{name}.non_negative must not be set: a reward of {drawn.min():g} was drawn"
    )
    for reward in drawn[:, : _DRAWS // 20].ravel().tolist():
        assert law.possible(reward), (
            f"{name}.possible must be True for every reward, as live agents refuse others: it is"
            f" False for {reward:g}, which was drawn"
        )


def _check_tails(name: str, away: Vector, arm: int) -> None:
    from scipy.stats import binom

    for t in (3.0, 4.0, 5.0, 6.0):
        bound, seen = 2.0 * math.exp(-0.5 * t * t), int((away > t).sum())
        assert binom.sf(seen - 1, _DRAWS, min(bound, 1.0)) > 1e-9, (
            f"{name} must not set sub_gaussian = True: {seen} of {_DRAWS:,} draws of arm {arm} are"
            f" more than {t:g} scales from the mean, and at most {_DRAWS * bound:.1f} are expected"
        )


def tail_index(away: Vector) -> float:
    """Return Hill's estimate of the tail index; moments of a lower order exist."""
    largest = np.sort(away)[-_TAIL - 1 :]
    if largest[0] <= 0.0 or largest[0] == largest[-1]:
        return math.inf
    return 1.0 / float(np.mean(np.log(largest[1:] / largest[0])))


def _check_independence(name: str, what: str, first: Vector, second: Vector) -> None:
    """Check the rank correlation, defined for any tails; nearly constant rows are left out."""
    from scipy.stats import rankdata

    for one, other in zip(first, second, strict=True):
        if min(_changes(one), _changes(other)) < 0.1:
            continue
        correlation = float(np.corrcoef(rankdata(one), rankdata(other))[0, 1])
        assert abs(correlation) <= _ERRORS / math.sqrt(_DRAWS), (
            f"{name} must draw independently from {what}: their rank correlation is"
            f" {correlation:.3f}. Draw from halfseen.draws with `stream`, `count` and `arm`"
        )


def _changes(row: Vector) -> float:
    """Return the share of draws that differ from the most common value."""
    _, counts = np.unique(row, return_counts=True)
    return 1.0 - float(counts.max()) / len(row)


def draw_many(table: Vector, stream: Stream, out: Vector) -> None:
    """Write the first rewards of every arm; ``draw`` is filled in with a law's kernel."""
    for arm in range(out.shape[0]):
        for count in range(out.shape[1]):
            out[arm, count] = draw(table, arm, count, stream)


def _drawn(law: RewardLaw, table: Vector, stream: Stream) -> Vector:
    """Return many draws of every arm, compiled, after comparing some with plain Python."""
    name = f"{type(law).__name__}.draw"
    found = np.empty((len(table), _DRAWS))
    with compiling(law):
        compiled(draw_many, law.kernels())(table, stream, found)
    for arm in range(len(table)):
        plain = [law.draw(table, arm, count, stream) for count in range(50)]
        assert np.array_equal(found[arm, :50], plain), f"{name}: compiled, it draws other numbers"
    return found
