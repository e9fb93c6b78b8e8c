"""The best arm as far as a log shows it, and how many more decisions would settle it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from halfseen import checks
from halfseen.checks import Vector
from halfseen.display import Shown
from halfseen.logs.counts import Counts
from halfseen.logs.group_sums import smallest
from halfseen.logs.posterior import mean_beliefs, spreads
from halfseen.logs.skewness import SKEWER, longer_quantile
from halfseen.tables import brief, level_name, listed, probability_name
from halfseen.theory import winner

if TYPE_CHECKING:
    from halfseen.logs.warnings.log_warning import LogWarning

DRAWS = 500
FURTHEST = 1e4  # a log this many times longer counts as never
STEPS = 300
RHO = 10.0
CLOSEST = 2000  # arms that are compared with the leader individually
RARE = 1000  # rewards of an arm likely to include the rare values that dominate its mean
ENOUGH = 10  # fewest rewards of an arm to estimate its variance
BETA_RHO = 2.0 / math.pi  # rho at which the normal mixture matches Jeffreys' beta prior
DOUBTS = {  # kinds of warning that cast doubt on the best arm
    "hidden-differ": "rewards that were not observed differ from those that were, so another arm"
    " may be best if all count",
    "late-differ": "late rewards differ from early ones, so another arm may be best once all have"
    " come; here a pending reward counts as missing",
    "units-tied": "rewards go with how often their unit is seen, so another arm may be best if"
    " unseen rewards count too",
    "zeros-follow": "some 0 may stand for no answer, and more of them for one arm than for another",
}


@dataclass(frozen=True, repr=False)
class BestArm(Shown):
    """The best arm among rewards seen, and with what confidence.

    Attributes
    ----------
    leaders
        The arm with the largest seen mean; several if they are equal.
    shown
        True if the leader is shown to be best at `level`.
    designed
        True if the arms were drawn independently of rewards and the log is inspected once; else the
        result holds however arms were chosen and however often the log is inspected.
    level
        Confidence level of what is shown.
    open
        Arms that cannot be distinguished from the leader yet, the closest first.
    probability
        Probability that the leader is best, with means shrunken towards each other.
    more
        Further decisions after which the leader is distinguished from the closest other arm: 10%,
        50% and 90% quantiles; infinite for never.
    arms
        How many arms were compared: those seen.
    doubts
        Why the best arm by seen rewards may not be the best, from the warnings of the log.
    """

    leaders: tuple[str, ...]
    shown: bool
    designed: bool
    level: float
    open: tuple[str, ...]
    probability: float
    more: tuple[float, float, float] | None
    arms: int
    doubts: tuple[str, ...] = ()

    def __str__(self) -> str:
        said = self._sentence()
        return f"{said} But {'; and '.join(self.doubts)}." if self.doubts else said

    def _sentence(self) -> str:
        if self.arms == 1:
            return f"{_quoted(self.leaders[0])} is the only arm seen."
        if self.shown:
            how = "if looked at only once" if self.designed else "however often you look"
            return (
                f"{_quoted(self.leaders[0])} is best among what was seen (shown at"
                f" {level_name(self.level)}, {how})."
            )
        if len(self.leaders) > 1:
            return f"Equally good among what was seen: {listed(self.leaders)}."
        leader = _quoted(self.leaders[0])
        if self.probability < 1.5 / self.arms:
            return f"Cannot tell yet which of the {self.arms:,} arms is best." + self._more()
        names = [_quoted(name) for name in self.open]
        others = " and ".join(names) if len(names) < 3 else listed(names, 3)
        likely = f"{leader} is best with probability {probability_name(self.probability)}"
        if self.probability >= self.level:
            held = "in every comparison at once" if self.designed else "however often you look"
            likely += (
                f" as far as this log goes; what is shown at {level_name(self.level)} must"
                f" hold {held},"
                " which takes more rewards"
            )
        return f"Cannot tell {leader} from {others} yet. {likely}.{self._more()}"

    def _more(self) -> str:
        if self.more is None:
            return ""
        low, middle, high = self.more
        pair = f"{_quoted(self.leaders[0])} from {_quoted(self.open[0])}"
        if math.isinf(low):
            return f" More decisions like these would hardly ever tell {pair}."
        ends = f"{_about(low)} to {'never' if math.isinf(high) else _about(high)}"
        if math.isinf(middle):
            return f" More decisions like these may never tell {pair} (8 in 10: {ends})."
        spread = (
            "" if math.isfinite(high) and _about(low) == _about(high) else f" (8 in 10: {ends})"
        )
        return f" About {_about(middle)} more decisions like these would tell {pair}{spread}."

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values; None for what is infinite."""
        more = None if self.more is None else [v if math.isfinite(v) else None for v in self.more]
        return {
            "leaders": list(self.leaders),
            "shown": self.shown,
            "designed": self.designed,
            "level": self.level,
            "not_told_apart": list(self.open[:50]),
            "probability": self.probability,
            "more_decisions": more,
            "doubts": list(self.doubts),
            "sentence": str(self),
        }

    def doubted(self, warnings: Sequence[LogWarning]) -> BestArm:
        """Return the same with the doubts that warnings of the log raise."""
        if self.arms == 1:
            return self
        doubts = ["a warning invalidates the numbers of this log"] * any(w.voids for w in warnings)
        written = {
            arm for w in warnings if w.kind == "one-value" for arm in w.facts.get("arms", ())
        }
        doubts += [
            f"this does not hold if only successes are recorded for {_quoted(name)}: see the"
            " warning"
            for name in self.leaders
            if name in written
        ]
        kinds = {warning.kind for warning in warnings}
        doubts += [said for kind, said in DOUBTS.items() if kind in kinds]
        return replace(self, doubts=tuple(doubts))


def best_arm(
    counts: Counts,
    *,
    level: float = 0.95,
    designed: bool = False,
    skewness: Mapping[str, float] | None = None,
) -> BestArm | None:
    r"""Return which arm is best, as far as the rewards seen show it.

    Parameters
    ----------
    counts
        What the log says about each arm; arms never seen are left out.
    level
        Confidence level at which the leader must be shown to be best.
    designed
        True if the arms were drawn independently of rewards and the log is inspected once. Then
        pairwise two-sided t tests at :math:`(1-\text{level})/(K-1)` decide, which have more power.
    skewness
        Skewness of the rewards of arms by name, which the t tests allow for; an arm that is not
        named is taken to be as skewed as the others.

    Returns
    -------
    BestArm or None
        None if no reward was seen.

    Notes
    -----
    Unless the log was designed, the rule is `halfseen.theory.winner`'s "either": evidence or
    confidence sequences, valid at every round at once. Except for evidence from rewards of 0 or 1,
    which is exact, nothing is shown of an arm with fewer than 10 rewards: they do not show how much
    they vary. One with fewer than 1,000 is taken to vary at least as much as all arms together.
    The t tests reach as far as Hall's transformation says for rewards that are as skewed as the
    arm's own or as those of all arms together, whichever is farther; of rewards of 0 or 1, as the
    larger of the errors with each arm's own share and with a common one.
    """
    level = checks.number("level", level, above=0.0, below=1.0, fix="Use 0.95.")
    known = ~np.isnan(counts.mean)
    if not known.any():
        return None
    total = int(counts.rows.sum())
    arms = counts.part(known)
    top = float(arms.mean.max())
    leaders = np.flatnonzero(arms.mean == top)
    if len(leaders) > 1 and arms.binary:  # equal shares count as equally good
        leaders = np.flatnonzero(np.isclose(arms.mean, top, rtol=1e-12, atol=0.0))
    names = tuple(arms.names[i] for i in leaders)
    found = BestArm(names, False, designed, level, (), 1.0, None, len(arms))
    if len(arms) == 1:
        return found
    leader = int(leaders[0])
    found = replace(found, probability=mean_beliefs(arms).probability_best(leader))
    if len(leaders) > 1:
        return replace(found, open=names)
    errors = spreads(arms, RARE) / np.sqrt(arms.seen)
    distance = (top - arms.mean) / np.maximum(np.hypot(errors, errors[leader]), 1e-300)
    distance[leader] = -1.0
    near = smallest(distance, CLOSEST)  # the leader first
    skew = _skewness(arms, skewness or {}) if designed else None
    if skew is None:
        told = _told_anytime(arms.part(near), level, len(arms))
    else:
        told = _told_fixed(arms.part(near), level, len(arms), skew[:, near])
    if told.all():
        return replace(found, shown=True)
    order = near[~told].tolist()
    names = tuple(arms.names[i] for i in order)
    if errors[[leader, order[0]]].max() == 0.0:
        return replace(found, open=names)
    more = _more_decisions(arms, [leader, order[0]], level, skew, total)
    return replace(found, open=names, more=more)


def _told_anytime(arms: Counts, level: float, of: int) -> Any:
    """Return which arms are distinguished from the first one, itself among them.

    They are the closest of `of` arms, and what is asked of each is what all of these ask.
    """
    level = 1.0 - (1.0 - level) * (len(arms) - 1) / (of - 1)
    spread = spreads(arms, RARE)
    if not arms.binary and spread.max() == 0.0:
        return np.arange(len(arms)) == 0
    law: dict[str, Any] = (
        {"reward": "bernoulli"} if arms.binary else {"noise": np.maximum(spread, 1e-300)}
    )
    totals = arms.mean * arms.seen
    totals = np.rint(totals) if arms.binary else totals
    found = winner(arms.seen.astype(float), totals, level=level, rule="either", rho=RHO, **law)
    told = np.asarray((found.evidence >= found.threshold) | (found.high < found.low))
    if found.arm is not None:
        told[:] = True
    return told if arms.binary else _with_enough(told, arms)


def _with_enough(told: NDArray[np.bool_], arms: Counts) -> NDArray[np.bool_]:
    """Return which arms are distinguished from the first one by enough rewards of both."""
    told = told & (np.minimum(arms.seen, arms.seen[0]) >= ENOUGH)
    told[0] = True
    return told


def _skewness(arms: Counts, known: Mapping[str, float]) -> Vector:
    """Return the smallest and the largest skewness that every arm's rewards may have.

    They are the arm's own, if it is known, and the average over arms, by number and size of
    rewards: a few rewards seldom hold the rare ones that would make them as skewed as the others.
    """
    own = np.array([known.get(name, math.nan) for name in arms.names])
    spread = spreads(arms)
    size = (spread / max(float(spread.max()), 1e-300)) ** 3
    weight = np.where(np.isnan(own), 0.0, arms.seen * size)
    common = float(weight @ np.nan_to_num(own) / max(float(weight.sum()), 1e-300))
    return np.stack([np.fmin(SKEWER * own, common), np.fmax(SKEWER * own, common)])


def _told_fixed(arms: Counts, level: float, of: int, skew: Vector) -> Any:
    from scipy.special import stdtrit

    spread = spreads(arms, RARE)
    squares = spread**2 / arms.seen
    both = squares + squares[0]
    each = squares**2 / np.maximum(arms.seen - 1.0, 1.0)
    freedom = both**2 / np.maximum(each + each[0], 1e-300)  # Welch's
    needed = stdtrit(np.maximum(freedom, 1.0), 1.0 - (1.0 - level) / (2.0 * (of - 1)))
    if arms.binary:
        both = np.maximum(both, _variance_if_equal(arms))
    else:
        needed = longer_quantile(needed, _tail_of_gaps(arms.seen, spread, skew))
    return _with_enough(arms.mean[0] - arms.mean > needed * np.sqrt(both), arms)


def _variance_if_equal(arms: Counts) -> Vector:
    """Return the variance of each gap to the first arm if both have the same share of ones."""
    ones, seen = arms.mean * arms.seen, arms.seen.astype(float)
    share = (ones + ones[0] + 0.5) / (seen + seen[0] + 1.0)
    return np.asarray(share * (1.0 - share) * (1.0 / seen + 1.0 / seen[0]))


def _tail_of_gaps(seen: Any, spread: Vector, skew: Vector) -> Vector:
    """Return how skewed the gap from the first arm to each is towards small ones, at least 0."""
    spread = spread / max(float(spread.max()), 1e-300)  # cubes of 1e110 are no numbers
    third, both = spread**3 / seen**2, spread**2 / seen
    towards = skew[1] * third - skew[0, 0] * third[0]
    return np.asarray(np.maximum(towards, 0.0) / np.maximum(both + both[0], 1e-200) ** 1.5)


def _more_decisions(
    arms: Counts, pair: list[int], level: float, skew: Vector | None, rows: int
) -> tuple[float, float, float]:
    """Return how many more decisions tell two arms apart: 10%, 50% and 90% of simulated futures.

    In each, the true gap is drawn given the log, and the log grown f-fold has the gap
    (d + (f - 1) true + sqrt(f - 1) se xi) / f. In a designed log, `skew` is given.
    """
    from scipy.special import ndtri

    spread, n = spreads(arms, RARE)[pair], arms.seen[pair].astype(float)
    gap = float(arms.mean[pair[0]] - arms.mean[pair[1]])
    error = math.sqrt(float((spread**2 / n).sum()))
    rng = np.random.default_rng(0)
    truth, luck = gap + error * rng.standard_normal((1, DRAWS)), rng.standard_normal((1, DRAWS))
    growth = np.geomspace(1.0, FURTHEST, STEPS)[:, None]
    later = (gap + (growth - 1.0) * truth + np.sqrt(growth - 1.0) * error * luck) / growth
    if skew is not None:
        needed = ndtri(1.0 - (1.0 - level) / (2.0 * (len(arms) - 1)))
        if not arms.binary:
            ahead, behind = (
                _tail_of_gaps(n[way], spread[way], skew[:, pair][:, way])[1]
                for way in ([0, 1], [1, 0])
            )
            tail = np.where(later > 0.0, ahead, behind) / np.sqrt(growth)
            needed = longer_quantile(needed, tail)
        reached = np.abs(later) * np.sqrt(growth) / error > needed
    else:
        size, rho = growth * n, BETA_RHO if arms.binary else RHO
        variance = (spread**2 * (size + rho) / size**2).sum(axis=1, keepdims=True)
        penalty = np.log1p(size / rho).sum(axis=1, keepdims=True) / 2.0
        threshold = math.log(2.0 * (len(arms) - 1) / (1.0 - level))
        reached = later**2 / (2.0 * variance) - penalty >= threshold
    if skew is not None or not arms.binary:
        reached &= growth * n.min() >= ENOUGH
    first: Vector = np.where(reached.any(axis=0), growth[np.argmax(reached, axis=0), 0], math.inf)
    low, middle, high = np.quantile((first - 1.0) * rows, [0.1, 0.5, 0.9], method="higher")
    return float(low), float(middle), float(high)


def _quoted(name: str) -> str:
    return f"“{brief(name, 40)}”"


def _about(value: float) -> str:
    """Write a number of decisions in two digits.

    >>> _about(23456.0), _about(7.0)
    ('23,000', '7')
    """
    return f"{float(f'{value:.2g}'):,.0f}"
