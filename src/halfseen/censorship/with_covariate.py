"""Arms with a covariate that is seen in every round, whether or not the reward is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from halfseen import checks
from halfseen.censorship.base import Censorship, SeenDraws
from halfseen.censorship.reward_dependent import RewardDependent
from halfseen.checks import Vector
from halfseen.errors import InvalidInput
from halfseen.phrases import values_in_words

REWARDS = (0, 1)


@dataclass(frozen=True)
class WithCovariate(Censorship):
    r"""After each choice a covariate M is seen; the reward is, with a chance that may depend on M.

    For rewards of 0 and 1. The problem draws the reward R, then M is drawn given the arm and R, and
    the reward is seen with probability :math:`p_a(M, R)`. This covers an M that causes the reward
    (by Bayes' rule), an M that is only a proxy of it, and an uninformative M. Policies with
    `uses_covariate` observe M in every round, all others do not.

    Parameters
    ----------
    covariate
        For each arm the probabilities of the values of M, first given a reward of 0, then given 1.
    observe
        For each arm the probability of being seen: a number; or one entry per value of M, each a
        number or a pair, for a reward of 0 and for 1.

    Examples
    --------
    M tells the reward in four of five rounds, and ones are hidden in the first arm:

    >>> from halfseen import ArmedBandit
    >>> proxy = WithCovariate([[[0.8, 0.2], [0.2, 0.8]]] * 2, [[[0.8, 0.3]] * 2, 0.5])
    >>> proxy.rates(ArmedBandit([0.6, 0.5], reward="bernoulli")).round(4).tolist()
    [0.5, 0.5]
    """

    kind: ClassVar[str] = "with-covariate"
    by_place: ClassVar[bool] = True
    covariate: Sequence[Any]
    observe: Sequence[Any]

    def __post_init__(self) -> None:
        laws = _listed("WithCovariate.covariate", self.covariate)
        shares = tuple(_shares(f"WithCovariate.covariate[{a}]", law) for a, law in enumerate(laws))
        levels = len(shares[0][0])
        for arm, law in enumerate(shares):
            if any(len(given) != levels for given in law):
                raise InvalidInput(
                    f"WithCovariate.covariate[{arm}]",
                    f"must have {levels} probabilities given each reward, as the first arm has",
                    law,
                    "Use 0 for values of the covariate that an arm never has.",
                )
        seen = _listed("WithCovariate.observe", self.observe)
        if len(seen) != len(shares):
            raise InvalidInput(
                "WithCovariate.observe",
                f"must have {len(shares)} entries, one per arm, as `covariate` has",
                f"{len(seen)} entries",
                "Give both for every arm.",
            )
        chances = tuple(
            _chances(f"WithCovariate.observe[{arm}]", entry, levels)
            for arm, entry in enumerate(seen)
        )
        object.__setattr__(self, "covariate", shares)
        object.__setattr__(self, "observe", chances)

    @property
    def by_reward(self) -> bool:  # type: ignore[override]
        """True when being seen depends on the reward, for those who do not see M."""
        entries = (dict(entry) for entry in self.without_covariate.observe)
        return any(abs(entry[1.0] - entry[0.0]) > 1e-12 for entry in entries)

    @property
    def informs(self) -> bool:
        """True when the reward decides on M, or given M on being seen: M tells something then."""
        pairs = [pair for law in self.covariate for pair in zip(*law, strict=True)]
        pairs += [pair for chances in self.observe for pair in chances]
        return any(abs(one - other) > 1e-12 for one, other in pairs)

    def seen_by(self, policy: Any) -> Censorship:
        """Return the same without M for a policy that does not observe it."""
        if getattr(policy, "uses_covariate", False):
            return self
        chances = [[(entry[0.0], entry[1.0])] for entry in self._averaged()]
        return WithCovariate([[[1.0], [1.0]]] * len(chances), chances)

    @property
    def levels(self) -> int:
        """How many values the covariate has."""
        return len(self.covariate[0][0])

    @property
    def without_covariate(self) -> RewardDependent:
        """The same probabilities of being seen, without observing M."""
        return RewardDependent(self._averaged())

    def _averaged(self) -> list[dict[float, float]]:
        """Return the probability that a reward of 0, and one of 1, of each arm is seen."""
        return [
            {float(r): sum(q * p[r] for q, p in zip(law[r], chances, strict=True)) for r in REWARDS}
            for law, chances in zip(self.covariate, self.observe, strict=True)
        ]

    def probabilities(self, actions: Any) -> Vector:
        """Refuse: the probability depends on the law of the rewards; use :meth:`rates`."""
        return self.without_covariate.probabilities(actions)

    def rates(self, problem: Any) -> Vector:
        """Return how likely each arm's reward is to be seen, averaged over M and the reward."""
        law = getattr(getattr(problem, "law", None), "kind", type(problem).__name__)
        if law != "bernoulli":
            raise InvalidInput(
                "censorship",
                "must not be WithCovariate: it needs arms with rewards of 0 or 1",
                law,
                'Use an ArmedBandit with reward="bernoulli".',
            )
        if len(self.observe) != problem.arms:
            raise InvalidInput(
                "WithCovariate.observe",
                f"must have {problem.arms} entries, one per arm",
                f"{len(self.observe)} entries",
                "Match the problem's means.",
            )
        return self.without_covariate.rates(problem)

    def seen_draws(self, problem: Any, horizon: int) -> SeenDraws | None:
        """Return how seen rewards are drawn for policies that do not observe M."""
        return self.without_covariate.seen_draws(problem, horizon)

    def joint_table(self, problem: Any) -> Vector:
        """Return a row per arm: for M and R in turn a cumulated probability, and that of seeing R.

        Columns 2(2m + r) and 2(2m + r) + 1 belong to M = m and R = r.
        """
        rows = np.zeros((problem.arms, 4 * self.levels))
        for arm, mean in enumerate(problem.means):
            paid = (1.0 - mean, mean)
            cells = [(m, r) for m in range(self.levels) for r in REWARDS]
            shares = np.cumsum([paid[r] * self.covariate[arm][r][m] for m, r in cells])
            rows[arm, ::2] = shares / shares[-1]
            rows[arm, 1::2] = [self.observe[arm][m][r] for m, r in cells]
        return rows

    def in_words(self) -> str:
        """Describe when a reward is seen."""
        chances = sorted({p for arm in self.observe for row in arm for p in row})
        text = (
            f"A covariate with {self.levels} values is seen in every round, and rewards with"
            f" probabilities {values_in_words(chances)}."
        )
        if not self.by_reward:
            return text
        return (
            f"{text} Being seen depends on the reward: rewards are missing not at random, means of"
            " observed rewards are biased, and no bound holds."
        )


def _listed(field: str, value: Any) -> Sequence[Any]:
    if isinstance(value, str) or not isinstance(value, Sequence | np.ndarray) or len(value) == 0:
        raise InvalidInput(field, "must be a list with one entry per arm", value, "Give a list.")
    return list(value)


def _shares(field: str, value: Any) -> tuple[tuple[float, ...], ...]:
    """Return the probabilities of the covariate given a reward of 0 and of 1."""
    fix = "Give two lists of probabilities: given a reward of 0, and given 1."
    given = _listed(field, value)
    if len(given) != len(REWARDS):
        raise InvalidInput(field, "must have a list for each reward, 0 and 1", value, fix)
    rows = []
    for reward, law in enumerate(given):
        name = f"{field}[{reward}]"
        row = checks.vector(name, law, at_least=0.0, at_most=1.0, fix=fix)
        if abs(sum(row) - 1.0) > 1e-9:
            raise InvalidInput(name, "must sum to 1", law, "Correct the probabilities.")
        rows.append(row)
    return tuple(rows)


def _chances(field: str, value: Any, levels: int) -> tuple[tuple[float, float], ...]:
    """Return the probability of being seen for each value of the covariate and each reward."""
    limits: Any = {"at_least": 0.0, "at_most": 1.0}
    if not isinstance(value, Sequence | np.ndarray) or isinstance(value, str):
        p = checks.number(field, value, **limits)
        return ((p, p),) * levels
    if len(value) != levels:
        raise InvalidInput(
            field,
            f"must have {levels} entries, one per value of the covariate",
            value,
            "Give a number, or an entry for each value.",
        )
    rows = []
    for m, entry in enumerate(value):
        name = f"{field}[{m}]"
        if isinstance(entry, Sequence | np.ndarray) and not isinstance(entry, str):
            row = checks.vector(name, entry, length=len(REWARDS), **limits)
            rows.append((row[0], row[1]))
        else:
            p = checks.number(name, entry, **limits)
            rows.append((p, p))
    return tuple(rows)
