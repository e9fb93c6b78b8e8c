"""Checks that every delay law must pass, including your own."""

from __future__ import annotations

import math

import numpy as np

from halfseen.errors import InvalidInput, shorten
from halfseen.problems import DelayLaw
from halfseen.testing.contract import check_kind, check_methods, promised

_PLACES = (0.0, 0.05, 0.3, 0.5, 0.8, 0.95)  # uniform numbers whose delays are checked
_FAR = (1e9, 1e15)  # delays between which a share that is still to arrive grows
_ROUNDING = 1e-9


@promised
def check_delay_law(law: DelayLaw, *, most: int = 1000) -> None:
    """Raise AssertionError unless a delay law fulfils the contract of `DelayLaw`.

    It checks that

    - it is a frozen dataclass with a name, made of code and values;
    - `arrived_by` takes an array of delays, returns the same every time, is 0 for negative delays,
      never decreases and never exceeds `arrive`;
    - it equals `arrive` at `longest`, if that is finite, and otherwise grows until it does;
    - `delay` is its inverse: the first delay by which more than a share u has arrived.

    Examples
    --------
    >>> from halfseen import GeometricDelay
    >>> check_delay_law(GeometricDelay(50))
    """
    check_kind(law, DelayLaw)
    check_methods(law, arrived_by="delay")
    name = type(law).__name__
    share = getattr(law, "arrive", None)
    assert isinstance(share, int | float) and 0.0 <= share <= 1.0, (  # noqa: PT018
        f"{name}.arrive must be the probability that a reward ever arrives: add a field"
        f" arrive: float = 1.0; got {shorten(share)}"
    )
    delays = np.arange(-1.0, most + 1.0)
    try:
        arrived = np.asarray(law.arrived_by(delays), dtype=float)
    except (TypeError, ValueError) as error:
        raise AssertionError(
            f"{name}.arrived_by must take an array of delays; it raised {type(error).__name__}:"
            f" {error}"
        ) from error
    assert arrived.shape == delays.shape, f"{name}.arrived_by must return one number per delay"
    assert not np.isnan(arrived).any(), f"{name}.arrived_by must return numbers, not NaN"
    assert np.array_equal(arrived, law.arrived_by(delays)), (
        f"{name}.arrived_by must return the same every time: no randomness, no state"
    )
    assert arrived[0] == 0.0, f"{name}.arrived_by(-1) must be 0; got {arrived[0]:g}"
    falls = np.flatnonzero(~(np.diff(arrived) >= 0.0))
    assert not len(falls), f"{name}.arrived_by must not fall: it does after {delays[falls[0]]:g}"
    top = float(arrived[-1])
    assert top <= law.arrive + _ROUNDING, (
        f"{name}.arrived_by must not exceed arrive = {law.arrive:g}; by {most:,} it is {top:g}"
    )
    if math.isfinite(law.longest):
        last = float(np.asarray(law.arrived_by([law.longest]), dtype=float)[0])
        assert abs(last - law.arrive) <= _ROUNDING, (
            f"{name}.arrived_by(longest = {law.longest:g}) must be arrive = {law.arrive:g};"
            f" got {last:g}"
        )
    else:
        _check_limit(law)
    for u in _PLACES:
        if u < top:
            _check_inverse(law, u, most)


def _check_limit(law: DelayLaw) -> None:
    """Check that a share that no longer grows is `arrive`."""
    early, late = np.asarray(law.arrived_by(np.array(_FAR)), dtype=float)
    assert late > early or late >= law.arrive - _ROUNDING, (
        f"{type(law).__name__}.arrive must be what arrived_by reaches in the end:"
        f" {law.arrive:g} is not {late:g}, which it is by {_FAR[0]:g} and still by {_FAR[1]:g}"
    )


def _check_inverse(law: DelayLaw, u: float, most: int) -> None:
    name = type(law).__name__
    try:
        delay = law.delay(u, most=most)
    except InvalidInput as error:
        raise AssertionError(str(error)) from None
    before, by = np.asarray(law.arrived_by([delay - 1.0, float(delay)]), dtype=float)
    assert before - _ROUNDING <= u <= by + _ROUNDING, (
        f"{name}.delay({u:g}) must be the first delay by which more than {u:g} has arrived; got"
        f" {delay:g}, by which {by:g} has, and {before:g} before"
    )
