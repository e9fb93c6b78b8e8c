"""Checks that every censorship must pass, including your own."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from halfseen.censorship import Censorship, Delayed, MultiThreshold, Profile, WithCovariate
from halfseen.censorship.directions import projections
from halfseen.checks import Vector
from halfseen.engine.cells.arms import Cell
from halfseen.engine.cells.linear import LinearCell
from halfseen.engine.specialise import compiled
from halfseen.errors import InvalidInput, shorten
from halfseen.kernels.reachable import renewed
from halfseen.policies import UCB, LinUCB
from halfseen.problems import ArmedBandit, FiniteActions, LinearBandit, RandomActions, UnitBall
from halfseen.testing.contract import (
    OpenName,
    check_kind,
    check_methods,
    check_pure,
    check_signature,
    compiling,
    promised,
)
from halfseen.testing.watched_kernels import check_engines

if TYPE_CHECKING:
    from halfseen.censorship.multi_threshold import observe_probability

_ALPHAS = np.array([1.0])
_ROUNDING = 1e-12
_MANY = 100  # times the actions are repeated
_METHODS = {
    "probabilities": "actions",
    "rates": "problem",
    "seen_draws": "problem, horizon",
    "profile": "dimension",
    "along_direction": "points",
    "in_steps": "dimension, regions",
}


@promised
def check_censorship(
    censorship: Censorship, *, arms: int = 3, dimension: int = 3, horizon: int = 40, seed: int = 5
) -> None:
    """Raise AssertionError unless a censorship fulfils the contract of `Censorship`.

    For arms, vectors, or both, it checks that

    - it is a frozen dataclass with a name, made of code and values;
    - probabilities are above 0 and at most 1, one for each action, and within `observe_range`;
    - they are all 1 if `sees_everything` is set, and it has `seen_draws` if `by_reward` is set;
    - the same action has the same probability in every call and whatever other actions are offered
      (unless `by_place` is set), and the given actions are not modified;
    - the kernel of its profile, if there is one, agrees with `probabilities`, plain and compiled;
    - plain Python and compiled loops give the same trajectory, to the last bit.

    Parameters
    ----------
    censorship
        The censorship to check.
    arms, dimension
        Number of arms, and number of coordinates of actions, of the tests.
    horizon, seed
        Horizon and seed of the short test studies.

    Examples
    --------
    >>> from halfseen import PerArm
    >>> check_censorship(PerArm([0.9, 0.5, 0.1]), horizon=20)
    """
    check_kind(censorship, Censorship)
    check_methods(censorship, **_METHODS)
    _check_described(censorship)
    _check_seen_draws(censorship)
    _check_curve(censorship)
    refusals: list[str] = []
    found: list[tuple[Any, Vector]] = []
    try:
        seen = _probabilities(censorship, arms)
    except InvalidInput as error:
        refusals.append(str(error))
    else:
        found.append((arms, seen))
        _in_range(censorship, seen)
        _check_rates(censorship, seen)
        cell = Cell(_arms(arms), censorship, UCB(), horizon, seed, _end(horizon), _ALPHAS)
        check_engines(cell, censorship)
    rows = _rows(dimension)
    try:
        seen = _probabilities(censorship, rows)
    except InvalidInput as error:
        refusals.append(str(error))
    else:
        found.append((rows, seen))
        _check_vectors(censorship, rows, seen, horizon, seed)
    assert found, (
        f"{censorship} must work on {arms} arms or on vectors of {dimension} coordinates; errors:"
        f" {' '.join(refusals)}"
    )
    for actions, seen in found:
        assert np.array_equal(seen, _probabilities(censorship, actions)), (
            f"{type(censorship).__name__}.probabilities must return the same for the same actions,"
            " however often it is called: no state"
        )


def _probabilities(censorship: Censorship, actions: Any) -> Vector:
    """Return the probabilities of actions, after checking that they are valid and repeatable."""
    name = f"{type(censorship).__name__}.probabilities"
    kept = actions.copy() if isinstance(actions, np.ndarray) else actions
    try:
        values = np.asarray(censorship.probabilities(actions))
    except InvalidInput:
        raise
    except (NameError, AttributeError) as error:
        raise AssertionError(f"{name} must run: {type(error).__name__}, {error}") from error
    except Exception as error:
        what = "vectors" if isinstance(actions, np.ndarray) else "arms"
        requirement = f"must work on {what} ({type(error).__name__}: {error})"
        raise InvalidInput(name, requirement, actions, "Raise InvalidInput for these.") from error
    assert np.array_equal(actions, kept), f"{name} must not write to the actions"
    assert values.dtype.kind in "fiu", f"{name} must return numbers"
    count = len(actions) if isinstance(actions, np.ndarray) else actions
    assert values.shape == (count,), (
        f"{name} must return one probability per action: {count} of them, not {values.shape}"
    )
    fine = (values > 0.0) & (values <= 1.0)
    assert fine.all(), (
        f"{name} must be above 0 and at most 1: it is {values[np.argmin(fine)]:g} for action"
        f" {int(np.argmin(fine))}"
    )
    for _ in range(3):
        assert np.array_equal(values, censorship.probabilities(actions)), (
            f"{name} must return the same for the same actions: no randomness, no state"
        )
    return values.astype(float)


def _check_described(censorship: Censorship) -> None:
    """Check the attributes that reports and the theory use."""
    name, said = type(censorship).__name__, censorship.in_words()
    assert isinstance(said, str), f"{name}.in_words must return a sentence, not {shorten(said)}"
    ends = censorship.observe_range
    assert isinstance(ends, tuple) and len(ends) == 2 and _is_range(*ends), (  # noqa: PT018
        f"{name}.observe_range must be the smallest and the largest probability, not"
        f" {shorten(ends)}"
    )
    stored = set(censorship.written())
    assert stored <= {entry.name for entry in fields(censorship)}, (  # type: ignore[arg-type]
        f"{name}.written must give fields of {name} by name: it gives {', '.join(sorted(stored))}"
    )
    assert not censorship.comes_late or censorship.delayed is not None, (
        f"{name}.comes_late must be left False: delays are those of a DelayLaw, in Delayed(...)"
    )


def _is_range(low: Any, high: Any) -> bool:
    """Return whether two numbers are a smallest and a largest probability; NaN if not known."""
    if not all(isinstance(end, int | float | np.floating) for end in (low, high)):
        return False
    return bool(0.0 <= low <= high <= 1.0) or math.isnan(low) or math.isnan(high)


def _check_rates(censorship: Censorship, seen: Vector) -> None:
    """Check that the arms of a bandit are seen as often as `probabilities` says."""
    if censorship.by_reward or censorship.delayed is not None:
        return
    rates = np.asarray(censorship.rates(_arms(len(seen))))
    assert np.array_equal(rates, seen), (
        f"{type(censorship).__name__}.rates must agree with probabilities: {rates.tolist()} is not"
        f" {seen.tolist()}"
    )
    messages = np.asarray(censorship.message_rates(_arms(len(seen))))
    least = seen * (1.0 - 1e-9)  # but for rounding
    fine = messages.shape == seen.shape and bool(((messages >= least) & (messages <= 1.0)).all())
    assert fine, (
        f"{type(censorship).__name__}.message_rates must be from the probabilities,"
        f" {seen.tolist()}, to 1, one for each arm: it is {shorten(messages.tolist())}"
    )


def _check_seen_draws(censorship: Censorship) -> None:
    """Check that a censorship that depends on the reward defines how observed ones are drawn."""
    own = type(censorship).seen_draws is not Censorship.seen_draws
    name = type(censorship).__name__
    assert own or not censorship.by_reward or isinstance(censorship, Delayed | WithCovariate), (
        f"{name}.seen_draws must return how seen rewards are drawn, since {name}.by_reward is set"
    )


def _check_curve(censorship: Censorship) -> None:
    """Check the curve that reports draw, if there is one."""
    curve, name = censorship.along_direction(11), f"{type(censorship).__name__}.along_direction"
    if curve is None:
        return
    try:
        along, chances = (np.asarray(values, dtype=float) for values in curve)
    except (TypeError, ValueError):
        raise AssertionError(
            f"{name} must return two arrays, projections and probabilities, not {shorten(curve)}"
        ) from None
    assert along.shape == chances.shape == (along.size,), (
        f"{name} must return as many probabilities as projections"
    )
    assert ((along >= -1.0) & (along <= 1.0)).all(), f"{name}: projections must be from -1 to 1"
    assert ((chances > 0.0) & (chances <= 1.0)).all(), (
        f"{name}: probabilities must be above 0 and at most 1: they go from {chances.min():g} to"
        f" {chances.max():g}"
    )


def _in_range(censorship: Censorship, seen: Vector) -> None:
    assert not censorship.sees_everything or (seen == 1.0).all(), (
        f"{type(censorship).__name__}.sees_everything must be True only where every probability is"
        f" 1: one is {seen.min():g}"
    )
    low, high = censorship.observe_range
    inside = not (seen.min() < low - _ROUNDING or seen.max() > high + _ROUNDING)
    assert inside, (
        f"{type(censorship).__name__}.observe_range must contain every probability: {low:g} to"
        f" {high:g} does not contain {seen.min():g} and {seen.max():g}"
    )


def _check_vectors(
    censorship: Censorship, rows: Vector, seen: Vector, horizon: int, seed: int
) -> None:
    _in_range(censorship, seen)
    dimension = rows.shape[1]
    sets: list[Any] = [FiniteActions(rows)]
    if not censorship.by_place:
        alone = np.concatenate([_probabilities(censorship, row[None]) for row in rows])
        assert np.allclose(alone, seen, rtol=_ROUNDING, atol=0.0), (
            f"{type(censorship).__name__}.probabilities must not depend on the other actions:"
            " set `by_place` if a probability belongs to a place in the list"
        )
        _check_many(censorship, rows, seen)
        _check_steps(censorship, rows, seen)
        sets.append(RandomActions(4, dimension))
    profile = censorship.profile(dimension)
    if profile is not None:
        _check_profile(censorship, profile, rows, seen)
        _check_along(censorship, profile)
        sets.append(UnitBall(dimension))
    for actions in sets:
        bandit = LinearBandit(np.linspace(0.5, -0.3, dimension).tolist(), 0.4, actions)
        cell = LinearCell(bandit, censorship, LinUCB(), horizon, seed, _end(horizon), _ALPHAS)
        check_engines(cell, censorship)


def _check_profile(censorship: Censorship, profile: Profile, rows: Vector, seen: Vector) -> None:
    name = f"{type(censorship).__name__}.profile"
    assert isinstance(profile, Profile), f"{name} must return a Profile, not {shorten(profile)}"
    for part in ("direction", "table"):
        given = getattr(profile, part)
        assert isinstance(given, np.ndarray) and given.dtype == np.float64, (  # noqa: PT018
            f"{name}.{part} must be an array of floats, not {shorten(given)}"
        )
    assert profile.direction.shape == rows.shape[1:], (
        f"{name}.direction must have {rows.shape[1]} coordinates, not {profile.direction.shape}"
    )
    length = float(np.linalg.norm(profile.direction))
    assert length <= 1.0 + 1e-9, f"{name}.direction must have length 1, not {length:g}"
    again = censorship.profile(rows.shape[1])
    same = again is not None and all(
        np.array_equal(one, other) for one, other in zip(profile[1:], again[1:], strict=True)
    )
    assert same, f"{name} must return the same every time: no randomness, no state"
    check_signature(profile, "kernel", "projection, table")
    along = projections("actions", rows, profile.direction.tolist())
    kernel_name = f"{name}.kernel"
    found = np.array(
        [
            check_pure(kernel_name, profile.kernel, projection, profile.table)
            for projection in along.tolist()
        ]
    )
    assert np.allclose(found, seen, rtol=1e-9, atol=0.0), (
        f"{name} must agree with probabilities: {found.tolist()} is not {seen.tolist()}"
    )
    fast = np.empty(len(along))
    with compiling(censorship):
        kernel = OpenName("observe_probability", renewed(profile.kernel))
        compiled(observe_many, kernel)(along, profile.table, fast)
    assert np.array_equal(fast, found), f"{name}: compiled, the kernel returns other numbers"
    ends = [profile.kernel(s, profile.table) for s in np.linspace(-1.0, 1.0, 101).tolist()]
    assert 0.0 < min(ends) <= max(ends) <= 1.0, (
        f"{name} must be above 0 and at most 1 for every projection from -1 to 1: it goes from"
        f" {min(ends):g} to {max(ends):g}"
    )
    _check_direction(censorship, profile, length)


def _check_direction(censorship: Censorship, profile: Profile, length: float) -> None:
    """Check that a profile agrees with `probabilities` along its direction, up to both ends."""
    if length == 0.0 or len(profile.cuts) > 0:  # rounding decides on which side of a cut one is
        return
    rows = np.outer(np.cos(np.linspace(0.01, math.pi - 0.01, 101)), profile.direction / length)
    told = np.asarray(censorship.probabilities(rows), dtype=float)
    along = projections("actions", rows, profile.direction.tolist())
    found = np.array([profile.kernel(s, profile.table) for s in along.tolist()])
    off = int(np.abs(found / told - 1.0).argmax())
    assert math.isclose(found[off], told[off], rel_tol=1e-9), (
        f"{type(censorship).__name__}.profile must agree with probabilities: at a projection of"
        f" {along[off]:g} it is {found[off]:g}, not {told[off]:g}"
    )


def _check_many(censorship: Censorship, rows: Vector, seen: Vector) -> None:
    """Check that the probability of an action does not depend on how many there are."""
    name, many = f"{type(censorship).__name__}.probabilities", np.tile(rows, (_MANY, 1))
    kept = np.asarray(censorship.probabilities(rows))
    found = np.asarray(censorship.probabilities(many), dtype=float).reshape(_MANY, -1)
    assert np.allclose(found, seen, rtol=_ROUNDING, atol=0.0), (
        f"{name} must not depend on how many actions there are: {found[0].tolist()} among"
        f" {len(many)} is not {seen.tolist()}"
    )
    censorship.probabilities(rows[::-1].copy())
    assert np.array_equal(kept, seen), (
        f"{name} must return a new array every time: the next call changed what it had returned"
    )


def _check_steps(censorship: Censorship, rows: Vector, seen: Vector) -> None:
    """Check that the steps a censorship is approximated by are as near to it as they say."""
    name, steps = f"{type(censorship).__name__}.in_steps", censorship.in_steps(rows.shape[1], 8)
    if steps is None:
        return
    pair = isinstance(steps, tuple) and len(steps) == 2
    assert pair and isinstance(steps[0], MultiThreshold), (  # noqa: PT018
        f"{name} must return a MultiThreshold and its largest error, or None, not {shorten(steps)}"
    )
    off = np.abs(steps[0].probabilities(rows) - seen).max()
    assert off <= steps[1] + _ROUNDING, (
        f"{name} must agree with probabilities up to its error, {steps[1]:g}: it is off by {off:g}"
    )


def _check_along(censorship: Censorship, profile: Profile) -> None:
    """Check that the curve that reports draw is that of the profile, between its steps."""
    curve = censorship.along_direction(11)
    if curve is None or len(profile.cuts) > 0:
        return
    for along, chance in zip(*(np.asarray(part).tolist() for part in curve), strict=True):
        value = profile.kernel(along, profile.table)
        assert math.isclose(value, chance, rel_tol=1e-6), (
            f"{type(censorship).__name__}.along_direction must agree with profile: at {along:g} it"
            f" is {chance:g}, not {value:g}"
        )


def observe_many(along: Vector, table: Vector, out: Vector) -> None:
    """Write probabilities; ``observe_probability`` is filled in with a profile's kernel."""
    for place in range(out.size):
        out[place] = observe_probability(along[place], table)


def _arms(count: int) -> ArmedBandit:
    return ArmedBandit(np.linspace(0.2, 0.8, count).tolist())


def _end(horizon: int) -> Any:
    return np.array([horizon])


def _rows(dimension: int) -> Vector:
    """Return three vectors of different lengths at most 1."""
    rows = np.random.default_rng(1).normal(size=(3, dimension))
    return rows / np.linalg.norm(rows, axis=1)[:, None] * np.array([[1.0], [0.7], [0.4]])
