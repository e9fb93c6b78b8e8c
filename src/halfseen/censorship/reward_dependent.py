"""Feedback whose probability of being seen depends on the reward itself: missing not at random."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from numbers import Real
from types import FunctionType
from typing import Any, ClassVar

import numpy as np

from halfseen import checks
from halfseen.censorship.base import Censorship, SeenDraws, SeenKernels
from halfseen.checks import SMALLEST_OBSERVE, Vector
from halfseen.draws import REWARD, Stream
from halfseen.errors import InvalidInput
from halfseen.kernels.reachable import renewed
from halfseen.phrases import values_in_words
from halfseen.problems import ArmedBandit

Entry = float | tuple[tuple[Any, float], ...]  # a probability, or pairs of names and numbers
LOGISTIC = ("intercept", "slope")
DRAWS = 2048  # by which the rate of an arm is estimated where it is no finite sum
KEY: Stream = (0x68616C66, 0x7365656E, 0, REWARD)
WHAT_IT_MAY_BE = (
    "Give a probability, a table of them such as {0: 0.2, 1: 0.8}, or {'intercept': 0.0, 'slope':"
    " 1.0}; for all arms, or a list with one entry per arm."
)


@dataclass(frozen=True)
class RewardDependent(Censorship):
    r"""Whether a reward is seen depends on the reward: feedback is missing not at random.

    Arm a's reward r is seen with probability :math:`p_a(r)`. An arm is then seen at the rate
    :math:`p_a = E[p_a(R)]`, and seen rewards have the law of R weighted by :math:`p_a(r)/p_a`:
    observed means are biased, and no bound of this package holds. It is meant for simulations
    without the assumption of missing at random.

    Parameters
    ----------
    observe
        The probability of being seen, for all arms or a list with one entry per arm. An entry is a
        number, if the reward does not matter in that arm; a dictionary of rewards and
        probabilities for rewards with finitely many values; or ``{"intercept": a, "slope": b}``
        for :math:`1/(1+e^{-a-br})`. In Python it may also be a function ``(reward, arm) -> p``,
        plain enough to be compiled.

    Notes
    -----
    Where rewards have finitely many values, the next seen reward and the wait for it are drawn
    from their exact laws, one draw an observation. Elsewhere rewards are drawn until one is seen,
    and the rate of an arm, which is reported, is an average over 2,048 draws.

    Examples
    --------
    >>> hidden = RewardDependent([{0: 0.8, 1: 0.3}, 0.5])
    >>> problem = ArmedBandit([0.6, 0.5], reward="bernoulli")
    >>> hidden.rates(problem).round(4).tolist()
    [0.5, 0.5]
    >>> hidden.seen_means(problem).round(4).tolist()
    [0.36, 0.5]
    """

    kind: ClassVar[str] = "reward-dependent"
    by_reward: ClassVar[bool] = True
    observe: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "observe", _observe("RewardDependent.observe", self.observe))

    def written(self) -> dict[str, Any]:
        """Return what `observe` is on disk: tables as dictionaries."""
        if self._function is not None:
            return {}
        entries = [_written(entry) for entry in self._entries()]
        return {"observe": entries if _is_list(self.observe) else entries[0]}

    @property
    def by_place(self) -> bool:  # type: ignore[override]
        """True when arms have entries of their own."""
        return self._function is not None or _is_list(self.observe)

    @property
    def observe_range(self) -> tuple[float, float]:
        """The smallest and the largest probability of being seen; NaN where not known."""
        entries = self._entries()
        if any(_is_logistic(entry) for entry in entries):
            return math.nan, math.nan
        tables = [_table(entry) for entry in entries if not _is_number(entry)]
        values = [float(entry) for entry in entries if _is_number(entry)]  # type: ignore[arg-type]
        values += [p for table in tables for p in table.values()]
        return (min(values), max(values)) if values else (math.nan, math.nan)

    def probabilities(self, actions: Any) -> Vector:
        """Refuse: the probability depends on the law of the rewards; use :meth:`rates`."""
        raise InvalidInput(
            "censorship",
            "must not depend on the reward here: an action alone does not tell how likely its"
            " reward is to be seen",
            self,
            "Use PerArm with the rates, which `rates(problem)` returns.",
        )

    def rates(self, problem: Any) -> Vector:
        """Return how likely each arm's reward is to be seen, averaged over its rewards."""
        self._check(problem)
        values = np.array([self._rate(problem, arm) for arm in range(problem.arms)])
        if not values.min() >= SMALLEST_OBSERVE:
            place = int(np.argmin(values))
            raise InvalidInput(
                f"RewardDependent.observe, arm {place}",
                "must let some rewards be seen",
                float(values[place]),
                "Raise the probability of a reward the arm pays, or leave the arm out.",
            )
        return values

    def seen_means(self, problem: ArmedBandit) -> Vector:
        """Return the mean of each arm's seen rewards: what any average of them converges to."""
        self.rates(problem)
        means = []
        for arm in range(problem.arms):
            rewards, weights = self._weighted(problem, arm)
            means.append(float(np.average(rewards, weights=weights)))
        return np.array(means)

    def seen_draws(self, problem: Any, horizon: int) -> SeenDraws:
        """Return how the engines draw an arm's next seen reward and the wait for it."""
        self._check(problem)
        if all(problem.law.values(*_arm_of(problem, arm)) for arm in range(problem.arms)):
            return SeenDraws(_seen_laws([self._weighted(problem, k) for k in range(problem.arms)]))
        given = problem.scale if problem.noise is None else np.array(problem.noise)
        table = np.asarray(problem.law.table(np.array(problem.means), given), dtype=float)
        own = np.zeros((problem.arms, 3))
        own[:, 2] = float(horizon)
        if self._function is None:
            own[:, :2] = [_logistic(self._entry(arm)) for arm in range(problem.arms)]
        kernels = SeenKernels(renewed(problem.law.draw), self._function)
        return SeenDraws(np.ascontiguousarray(np.hstack([table, own])), kernels)

    def in_words(self) -> str:
        """Describe when a reward is seen."""
        if self._function is not None:
            what = "a Python function of the reward and the arm"
        else:
            entries = list(dict.fromkeys(map(_entry_in_words, self._entries())))
            more = "" if len(entries) <= 3 else f"; and {len(entries) - 3} entries more"
            what = "; ".join(entries[:3]) + more
        return (
            f"Whether a reward is seen depends on the reward: {what}. Rewards are missing not at"
            " random, observed means are biased, and no bound holds."
        )

    @property
    def _function(self) -> Callable[[float, int], float] | None:
        return renewed(self.observe) if callable(self.observe) else None

    def _entries(self) -> list[Entry]:
        if callable(self.observe):
            return []
        return list(self.observe) if _is_list(self.observe) else [self.observe]

    def _entry(self, arm: int) -> Entry:
        entry: Entry = self.observe[arm] if _is_list(self.observe) else self.observe
        return entry

    def _check(self, problem: Any) -> None:
        """Refuse a problem the entries do not fit."""
        if not isinstance(problem, ArmedBandit):
            raise InvalidInput(
                "censorship",
                "must not be RewardDependent on vectors: it is played on arms only",
                self,
                "Use an ArmedBandit, or another censorship.",
            )
        if _is_list(self.observe) and len(self.observe) != problem.arms:
            raise InvalidInput(
                "RewardDependent.observe",
                f"must have {problem.arms} entries, one per arm",
                f"{len(self.observe)} entries",
                "Match the problem's means, or give one entry for all arms.",
            )
        for arm in range(problem.arms if self._entries() else 0):
            entry = self._entry(arm)
            if not _is_number(entry) and not _is_logistic(entry):
                _check_table(arm, _table(entry), problem)

    def _chance(self, reward: float, arm: int) -> float:
        """Return the probability that a reward of an arm is seen."""
        function = self._function
        if function is not None:
            given = function(reward, arm)
            field = f"RewardDependent.observe({reward:.6g}, {arm})"
            fix = "Return the probability that this reward is seen."
            return checks.number(field, given, at_least=0.0, at_most=1.0, fix=fix)
        entry = self._entry(arm)
        if _is_number(entry):
            return float(entry)  # type: ignore[arg-type]
        if _is_logistic(entry):
            intercept, slope = _logistic(entry)
            return 1.0 / (1.0 + math.exp(-max(-700.0, min(700.0, intercept + slope * reward))))
        return next(p for value, p in _table(entry).items() if _same(value, reward))

    def _weighted(self, problem: ArmedBandit, arm: int) -> tuple[Vector, Vector]:
        """Return rewards of an arm, and of each the probability that it is paid and seen."""
        values = problem.law.values(*_arm_of(problem, arm))
        if values:
            weights = [share * self._chance(value, arm) for value, share in values]
            return np.array([value for value, _ in values]), np.array(weights)
        rewards = _drawn(problem, arm)
        return rewards, np.array([self._chance(x, arm) for x in rewards.tolist()]) / len(rewards)

    def _rate(self, problem: ArmedBandit, arm: int) -> float:
        return float(self._weighted(problem, arm)[1].sum())


def _observe(field: str, value: Any) -> Any:
    if callable(value):
        if not isinstance(value, FunctionType):
            fix = "Write it with def or lambda, as a function of the reward and the arm."
            raise InvalidInput(field, "must be a plain Python function", value, fix)
        return value
    if isinstance(value, list) and _is_pairs(value):
        first = f"{{{value[0][0]}: {value[0][1]}, ...}} for all arms"
        raise InvalidInput(
            field,
            "must not be lists of two numbers, which may be pairs of reward and probability, or the"
            " probabilities of rewards 0 and 1 of each arm",
            value,
            f"Write {first}, or [{{0: {value[0][0]}, 1: {value[0][1]}}}, ...], one for each arm.",
        )
    if isinstance(value, str) or not isinstance(value, Sequence) or _is_pairs(value):
        return _entry_of(field, value)
    if not value:
        raise InvalidInput(field, "must not be empty", value, WHAT_IT_MAY_BE)
    return tuple(_entry_of(f"{field}[{k}]", entry) for k, entry in enumerate(value))


def _is_list(value: Any) -> bool:
    """Return whether there is an entry per arm, not one for all."""
    return isinstance(value, tuple) and not _is_pairs(value)


def _is_number(entry: Any) -> bool:
    return isinstance(entry, Real) and not isinstance(entry, bool)


def _is_pairs(value: Any) -> bool:
    """Return whether a sequence is a table as pairs, the form in which it is kept."""
    pairs = [x for x in value if isinstance(x, Sequence) and not isinstance(x, str) and len(x) == 2]
    named = [x for x in pairs if isinstance(x[0], str) or _is_number(x[0])]
    return bool(value) and len(named) == len(value) and all(_is_number(x[1]) for x in named)


def _entry_of(field: str, value: Any) -> Entry:
    if _is_number(value):
        return _chance_in(field, value)
    pairs = list(value.items()) if isinstance(value, Mapping) else value
    if not isinstance(pairs, Sequence) or not (isinstance(value, Mapping) or _is_pairs(pairs)):
        raise InvalidInput(field, "must say how likely a reward is seen", value, WHAT_IT_MAY_BE)
    names = [name for name, _ in pairs]
    if any(name in LOGISTIC for name in names):
        if sorted(map(str, names)) != list(LOGISTIC):
            fix = "Give both, and nothing else."
            raise InvalidInput(field, "must have an intercept and a slope", value, fix)
        given = dict(pairs)
        return tuple((name, checks.number(f"{field}.{name}", given[name])) for name in LOGISTIC)
    table: dict[float, float] = {}
    for name, p in pairs:
        reward = _reward_in(field, name)
        if reward in table:
            raise InvalidInput(field, "must name every reward once", name, "Leave one out.")
        table[reward] = _chance_in(f"{field}[{reward:g}]", p)
    if not table:
        raise InvalidInput(field, "must not be empty", value, WHAT_IT_MAY_BE)
    return tuple(sorted(table.items()))


def _chance_in(field: str, value: Any) -> float:
    fix = "Give the probability that feedback is seen."
    return checks.number(field, value, at_least=0.0, at_most=1.0, fix=fix)


def _reward_in(field: str, name: Any) -> float:
    """Return a reward that a table names; keys of TOML are text."""
    try:
        reward = float(name)
    except (TypeError, ValueError):
        reward = math.nan
    if not math.isfinite(reward):
        fix = "Name each reward by its value, for example 0 and 1."
        raise InvalidInput(field, "must name rewards by numbers", name, fix)
    return reward


def _is_logistic(entry: Any) -> bool:
    return not _is_number(entry) and entry[0][0] == LOGISTIC[0]


def _written(entry: Entry) -> Any:
    if isinstance(entry, float):
        return entry
    return {name if isinstance(name, str) else f"{name!r}": number for name, number in entry}


def _table(entry: Any) -> dict[float, float]:
    return dict(entry)


def _logistic(entry: Any) -> tuple[float, float]:
    """Return intercept and slope of an entry; a number has no slope."""
    if _is_logistic(entry):
        return entry[0][1], entry[1][1]
    if entry in (0.0, 1.0):
        return (math.inf if entry == 1.0 else -math.inf), 0.0
    return math.log(entry / (1.0 - entry)), 0.0


def _same(value: float, reward: float) -> bool:
    return math.isclose(value, reward, rel_tol=1e-9, abs_tol=1e-12)


def _check_table(arm: int, table: dict[float, float], problem: ArmedBandit) -> None:
    field = f"RewardDependent.observe, arm {arm}"
    values = problem.law.values(*_arm_of(problem, arm))
    if not values:
        raise InvalidInput(
            field,
            f"must be a function or have an intercept and a slope for {problem.law.in_words()}",
            table,
            "A table of probabilities needs rewards with finitely many values, such as 0 and 1.",
        )
    missing = [x for x, _ in values if not any(_same(x, reward) for reward in table)]
    if missing:
        raise InvalidInput(
            field, f"must have a probability for a reward of {missing[0]:g}", table, "Add it."
        )
    strange = [x for x in table if not any(_same(x, reward) for reward, _ in values)]
    if strange:
        paid = " or ".join(f"{x:g}" for x, _ in values)
        raise InvalidInput(
            field, f"must name rewards of this arm, {paid}", strange[0], "Leave it out."
        )


def _arm_of(problem: ArmedBandit, arm: int) -> tuple[float, float]:
    """Return the mean and the noise of an arm."""
    noise = problem.scale if problem.noise is None else np.asarray(problem.noise)
    return float(problem.means[arm]), float(noise[arm])


def _drawn(problem: ArmedBandit, arm: int) -> Vector:
    try:
        return _drawn_once(problem, arm)
    except TypeError:  # a law with fields that cannot be hashed
        return _drawn_once.__wrapped__(problem, arm)


@lru_cache(maxsize=256)
def _drawn_once(problem: ArmedBandit, arm: int) -> Vector:
    noise = problem.scale if problem.noise is None else np.array(problem.noise)
    table = np.asarray(problem.law.table(np.array(problem.means), noise), dtype=float)
    draw = problem.law.draw
    return np.array([draw(table, arm, count, KEY) for count in range(DRAWS)])


def _seen_laws(arms: Sequence[tuple[Vector, Vector]]) -> Vector:
    """Return a row per arm: values from the largest down, each with its cumulated share."""
    widest = max(len(rewards) for rewards, _ in arms)
    rows = np.ones((len(arms), 2 * widest))
    for arm, (rewards, weights) in enumerate(arms):
        order = np.argsort(-rewards)
        shares = np.cumsum(weights[order]) / weights.sum()
        shares[np.flatnonzero(weights[order])[-1] :] = 1.0  # later ones are never seen
        rows[arm, : 2 * len(rewards) : 2] = rewards[order]
        rows[arm, 1 : 2 * len(rewards) : 2] = shares
    return rows


def _entry_in_words(entry: Entry) -> str:
    if _is_number(entry):
        return f"{entry:g} for every reward"
    if _is_logistic(entry):
        intercept, slope = _logistic(entry)
        return f"logistic in the reward with intercept {intercept:g} and slope {slope:g}"
    table = _table(entry)
    return f"{values_in_words(list(table.values()))} for rewards {values_in_words(list(table))}"
