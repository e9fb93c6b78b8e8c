"""Upper confidence bounds for conversions, corrected for pending ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from halfseen import checks
from halfseen.checks import Vector
from halfseen.draws import Stream
from halfseen.errors import InvalidInput
from halfseen.kernels.kullback_leibler import POISSON, own_term, upper_mean
from halfseen.policies.arms.base import PULLED, TOTAL, Kernels, Policy, State, count_pull
from halfseen.policies.arms.hopeful_ucb import refuse_unbounded
from halfseen.problems.delay_contract import DelayLaw, delay_law
from halfseen.problems.setting import Setting

EXPECTED = 3  # plays, weighted by the probability that their conversion has arrived
BETA, FIRST = 0, 1  # of the table: the level; what a play gains at age 0, 1, ...
BOUNDS = ("kl", "hoeffding")


def mature(state: State, recent: NDArray[Any], clock: int, table: Vector) -> None:
    """Add to N~ what every recent play gains by being one round older."""
    ages = table.shape[1] - FIRST
    if ages > clock:
        ages = clock
    place = clock % recent.size
    for age in range(ages):
        arm = recent[place]
        state[arm, EXPECTED] += table[arm, FIRST + age]
        place = place - 1 if place > 0 else recent.size - 1


def hoeffding_index(state: State, arm: int, clock: int, stream: Stream, table: Vector) -> float:
    """Return S / N~ + sqrt(N beta / 2) / N~."""
    expected = state[arm, EXPECTED]
    if not expected > 0.0:
        return math.inf
    return (state[arm, TOTAL] + math.sqrt(0.5 * state[arm, PULLED] * table[arm, BETA])) / expected


def kl_index(state: State, arm: int, clock: int, stream: Stream, table: Vector) -> float:
    """Return the largest q with N~ (h log(h/q) + q - h) <= beta, h = S / N~."""
    expected = state[arm, EXPECTED]
    if not expected > 0.0:
        return math.inf
    mean = state[arm, TOTAL] / expected
    return upper_mean(POISSON, mean, own_term(POISSON, mean), table[arm, BETA] / expected, 0.0, 0.0)


@dataclass(frozen=True)
class ConversionUCB(Policy):
    r"""Estimate conversion rates from late conversions, given their delay laws.

    A play that is d rounds old has shown its conversion, if there is one, with probability
    :math:`\tau(d)`. With :math:`\tilde N_a` the sum of :math:`\tau` over the ages of the arm's
    plays, cut at the window, :math:`S_a/\tilde N_a` estimates the rate without bias. The index is

    .. math:: \max\{q : \tilde N_a\,(h\log(h/q) + q - h) \le k\log T\},\quad h = S_a/\tilde N_a,

    or with ``bound="hoeffding"`` :math:`S_a/\tilde N_a + \sqrt{N_a k\log T/2}/\tilde N_a`, which is
    wider where little arrives: its square grows with :math:`1/\tau^2` instead of :math:`1/\tau`.

    It assumes rewards of 0 or 1 and the right delay laws: without them only the order of
    :math:`\theta_a\tau_a` can be learned. ``ConversionUCB(Fixed(0), bound="hoeffding")`` is the
    mistake of counting every play without a conversion as a 0.

    Parameters
    ----------
    laws
        The delay law of conversions, one for all arms or one per arm: known, or estimated from a
        separate sample as `EmpiricalDelay`. Left out, the laws of the study's censorship, as in a
        world in which every reward is seen at once, such as a study's baseline.
    bound
        ``"kl"`` or ``"hoeffding"``.
    exponent
        k: a bound fails with probability at most :math:`T^{-k}`.

    References
    ----------
    Vernade, Cappe, Perchet, *Stochastic bandit models for delayed conversions*, 2017. The KL form
    is ours: a sum of late conversions is dominated by a Poisson variable.
    """

    kind: ClassVar[str] = "conversion-ucb"
    summary: ClassVar[str] = (
        "Plays the largest upper confidence bound of a conversion rate, given the delay laws."
    )
    randomises: ClassVar[bool] = False
    laws: DelayLaw | Sequence[DelayLaw] | None = None
    bound: str = "kl"
    exponent: float = 2.0
    statistics = 4
    index = staticmethod(kl_index)
    pull = staticmethod(count_pull)
    mature = staticmethod(mature)

    def __post_init__(self) -> None:
        self._keep("exponent", above=0.0, fix="Use 2.0.")
        checks.one_of("ConversionUCB.bound", self.bound, BOUNDS)
        field, laws = "ConversionUCB.laws", self.laws
        if isinstance(laws, Sequence) and not isinstance(laws, str):
            if not laws:
                raise InvalidInput(field, "must not be empty", laws, "Give one law per arm.")
            given = tuple(delay_law(f"{field}[{k}]", law) for k, law in enumerate(laws))
            object.__setattr__(self, "laws", given)
        elif laws is not None:
            delay_law(field, laws)

    def kernels(self) -> Kernels:
        """Return the algorithm with the chosen bound."""
        kernels = super().kernels()
        return kernels if self.bound == "kl" else replace(kernels, index=hoeffding_index)

    def check(self, setting: Setting) -> None:
        """Refuse rewards that leave [0, 1], and laws that are missing, too many or endless."""
        refuse_unbounded("ConversionUCB", setting)
        laws = self._laws(setting)
        if len(laws) != setting.arms:
            given = f"{len(laws)} laws" if laws else "none"
            raise InvalidInput(
                "ConversionUCB.laws",
                f"must be one law, or {setting.arms}, one per arm",
                given,
                "Give the law of the delays.",
            )
        if setting.window is None and max(law.longest for law in laws) > setting.horizon:
            raise InvalidInput(
                "ConversionUCB",
                "must be played with a window, after which a decision is given up",
                "no window",
                "Add a window to Delayed: what takes longer hardly counts.",
            )
        age = self.remembers(setting)
        late = [arm for arm, law in enumerate(laws) if not law.arrived_by(age) > 0.0]
        if late:
            raise InvalidInput(
                f"ConversionUCB.laws, arm {late[0]}",
                f"must let some conversions arrive by age {age:,}, in rounds",
                laws[late[0]],
                "Lengthen the window, or correct the law.",
            )

    def remembers(self, setting: Setting) -> int:
        """Return the age from which on a play gains nothing."""
        longest = max(law.longest for law in self._laws(setting))
        window = setting.horizon if setting.window is None else setting.window
        return int(min(longest, window, setting.horizon))

    def table(self, setting: Setting) -> Vector:
        """Return k log T and what a play of each arm gains at every age."""
        ages = np.arange(self.remembers(setting) + 1)
        rows = np.empty((setting.arms, FIRST + len(ages)))
        rows[:, BETA] = self.exponent * math.log(setting.horizon)
        for arm, law in enumerate(self._laws(setting)):
            rows[arm, FIRST:] = np.diff(law.arrived_by(ages), prepend=0.0)
        return rows

    def _laws(self, setting: Setting) -> tuple[DelayLaw, ...]:
        at_once = bool(setting.delays) and all(law.arrived_by(0) == 1.0 for law in setting.delays)
        if self.laws is None or (at_once and setting.window == 0):
            return setting.delays
        return (self.laws,) * setting.arms if isinstance(self.laws, DelayLaw) else tuple(self.laws)
