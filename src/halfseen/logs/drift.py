"""Rates over time at a fixed mix of arms: where they changed, and by how much."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from halfseen.checks import Vector
from halfseen.display import Shown
from halfseen.equality import ByValue
from halfseen.logs.counts import Binned, Decisions
from halfseen.logs.group_sums import sum_by
from halfseen.logs.rate_wobble import Wobble, find_wobble
from halfseen.logs.time_bins import Bins, moment_in_words

FOLLOWED = 12  # arms whose rates are followed individually
LEAST_INFORMATION, LEAST_IN_ALL = 2.0, 10.0  # least information in a bin, and in a log
LEVEL = 1e-3  # probability of a false change anywhere in the log
MOST_CHANGES = 8
BLOCKS_OF_A_DAY = (12, 6)  # hours of a block of the day, if there are enough rows
LEAST_DAYS, PER_STRATUM = 4, 50.0  # that a log must have for that, and rows of an arm in a block
FINE = 5000  # strata beyond which their rates are rounded to draw a chart
Whole = NDArray[np.int64]


class Strata(NamedTuple):
    """Counts by stratum and group of time, one entry for each pair that occurs."""

    stratum: Whole
    group: Whole
    rows: Vector
    seen: Vector

    @property
    def totals(self) -> tuple[Vector, Vector]:
        """Rows and rate of each stratum."""
        rows = sum_by(self.stratum, self.rows)
        with np.errstate(invalid="ignore"):
            return rows, sum_by(self.stratum, self.seen) / rows


class Score(NamedTuple):
    """Score of one common shift of log-odds per group of time, and the information on it.

    Attributes
    ----------
    score
        Rewards seen less those expected at the strata's own rates.
    variance
        Information of each group if the strata's rates were known.
    information
        Information with the strata's rates profiled out: the covariance of the score.
    """

    score: Vector
    variance: Vector
    information: Vector


def score_over_time(strata: Strata, groups: int) -> Score:
    r"""Return the score of a shift of log-odds in each group of time.

    .. math:: U_b = \sum_s (k_{sb} - n_{sb} p_s), \quad V_b = \sum_s n_{sb} v_s, \quad
              I = \operatorname{diag}(V) - \Big(\sum_s \frac{v_s}{N_s} n_{sb} n_{sc}\Big)

    with :math:`p_s = K_s/N_s` and :math:`v_s = p_s (1-p_s) N_s/(N_s-1)`.

    Examples
    --------
    >>> one = Strata(np.zeros(2, int), np.arange(2), np.array([4.0, 4.0]), np.array([3.0, 1.0]))
    >>> score_over_time(one, 2).score.tolist()
    [1.0, -1.0]
    """
    from scipy.sparse import csr_matrix

    rows, rate = strata.totals
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = np.where(rows > 1.0, rate * (1.0 - rate) * rows / (rows - 1.0), 0.0)
        weight = np.sqrt(np.where(rows > 0.0, spread / rows, 0.0))
    s, b, n = strata.stratum, strata.group, strata.rows
    score = sum_by(b, strata.seen - n * rate[s], groups)
    variance = sum_by(b, n * spread[s], groups)
    scaled = csr_matrix((n * weight[s], (s, b)), shape=(len(rows), groups))
    gram = np.asarray((scaled.T @ scaled).toarray())
    return Score(score, variance, np.diag(variance) - gram)


def merged(found: Score, least: float = LEAST_INFORMATION) -> tuple[Score, Whole]:
    """Merge neighbouring groups until each has enough information; also return where each begins.

    Examples
    --------
    >>> unit = Score(np.zeros(3), np.array([1.0, 1.0, 3.0]), np.eye(3))
    >>> merged(unit)[1].tolist()
    [0, 2]
    """
    starts, held = [0], 0.0
    for place, variance in enumerate(found.variance.tolist()):
        if held >= least:
            starts.append(place)
            held = 0.0
        held += variance
    if held < least and len(starts) > 1:
        starts.pop()
    edges = np.array(starts, dtype=np.int64)
    information = np.add.reduceat(np.add.reduceat(found.information, edges, 0), edges, 1)
    score, variance = (np.add.reduceat(v, edges) for v in (found.score, found.variance))
    return Score(score, variance, information), edges


def find_changes(
    score: Vector,
    information: Vector,
    *,
    spread: float = 1.0,
    free: float = math.inf,
    series: int = 1,
) -> tuple[tuple[int, ...], float]:
    """Find where a series of rates changes, by forward selection of steps and stretches.

    Parameters
    ----------
    score, information
        Score and information of one shift per group of time.
    spread
        Design effect: the variance of counts over that of independent rows.
    free
        Degrees of freedom of the errors; infinite if they are known.
    series
        How many series are tested; the level is divided among them.

    Returns
    -------
    changes
        The first group of every stretch after the first.
    p
        The p-value of the first change, corrected for the choice of where it is.

    Notes
    -----
    A step shifts all groups after a place, a stretch those between two. Each is the score test of
    its own shift given the changes already found; the smallest p-value, multiplied by the number
    of candidates of its kind and by 2 for the two kinds, decides.

    Examples
    --------
    >>> half = np.repeat([20.0, -20.0], 3)
    >>> find_changes(half, 20.0 * (np.eye(6) - 1 / 6))[0]
    (3,)
    """
    u = np.cumsum(score[::-1])[::-1][1:]
    after = np.cumsum(np.cumsum(information[::-1, ::-1], 0), 1)[::-1, ::-1]
    j = after[1:, 1:]
    cuts: list[int] = []
    first = 1.0
    while len(cuts) < MOST_CHANGES and len(u):
        now, left = u, j
        if cuts:
            link = np.linalg.solve(j[np.ix_(cuts, cuts)], j[cuts])
            now, left = u - link.T @ u[cuts], j - j[:, cuts] @ link
        p, chosen = _candidate(now, left, (spread, free), series)
        first = p if not cuts else first
        if p >= LEVEL:
            break
        cuts = sorted({*cuts, *chosen})
    return tuple(cut + 1 for cut in cuts), first


def _candidate(
    u: Vector, j: Vector, spread: tuple[float, float], series: int
) -> tuple[float, tuple[int, ...]]:
    """Return the smallest p-value of a step or a stretch, and where it is."""
    own = np.diag(j)
    between = np.triu(own[:, None] + own[None, :] - 2.0 * j, 1)
    found: list[tuple[float, tuple[int, ...]]] = [(1.0, ())]
    for gain, size in ((u**2, own), ((u[:, None] - u[None, :]) ** 2, between)):
        usable = size >= LEAST_INFORMATION
        if not usable.any():
            continue
        ratio = np.where(usable, gain / np.where(usable, size, 1.0), -1.0)
        best = np.unravel_index(int(np.argmax(ratio)), ratio.shape)
        tail = math.log(2.0) + _log_tail(math.sqrt(float(ratio[best]) / spread[0]), spread[1])
        log_p = min(0.0, tail + math.log(2.0 * float(usable.sum()) * series))
        found.append((math.exp(log_p), tuple(int(i) for i in best)))
    return min(found)


def _log_tail(z: float, free: float) -> float:
    """Return the logarithm of the tail of a normal law, or of Student's."""
    from scipy.special import log_ndtr, stdtr

    if math.isinf(free):
        return float(log_ndtr(-z))
    return math.log(max(float(stdtr(free, -z)), 1e-300))


def levels_at_fixed_mix(strata: Strata, groups: int) -> Vector:
    """Return the rate in each group of time, at the mix of strata of the whole log.

    Each group has one shift of log-odds, fitted to its counts by Newton's method.

    Examples
    --------
    >>> mix = Strata(
    ...     np.array([0, 1, 0, 1]), np.array([0, 0, 1, 1]),
    ...     np.array([90.0, 10, 10, 90]), np.array([81.0, 1, 9, 9]),
    ... )
    >>> levels_at_fixed_mix(mix, 2).round(6).tolist()
    [0.5, 0.5]
    """
    from scipy.special import expit, logit

    rows, rate = strata.totals
    with np.errstate(divide="ignore", invalid="ignore"):
        centre = logit(rate)
    s, b, n = strata.stratum, strata.group, strata.rows
    shift = np.zeros(groups)
    for _ in range(50):
        chance = expit(centre[s] + shift[b])
        gradient = sum_by(b, strata.seen - n * chance, groups)
        slope = sum_by(b, n * chance * (1.0 - chance), groups)
        with np.errstate(divide="ignore", invalid="ignore"):
            step = np.clip(np.where(slope > 1e-12, gradient / slope, 0.0), -1.0, 1.0)
        shift += step
        if np.abs(step).max(initial=0.0) < 1e-10:
            break
    if len(rows) > FINE:
        rate, inverse = np.unique(rate.round(4), return_inverse=True)
        rows = sum_by(inverse, rows)
        with np.errstate(divide="ignore"):
            centre = logit(rate)
    levels = rows @ expit(centre[:, None] + shift[None, :]) / rows.sum()
    seen = sum_by(b, strata.seen, groups)
    return np.where(seen == 0.0, 0.0, np.where(seen == sum_by(b, n, groups), 1.0, levels))


@dataclass(frozen=True, eq=False, repr=False)
class Course(Shown, ByValue):
    """The rate over time at a fixed mix of arms and weekdays, and its segments of constant rate.

    Attributes
    ----------
    name
        The arm, or None for all of them together.
    starts
        Where each slice of time begins; slices with little information are merged.
    rows, shares
        Decisions in each slice, and the share of them seen at the mix of the whole log.
    changes
        The slices at which the rate changes.
    levels
        The rate of each stretch, at the mix of the whole log.
    wobble
        Random variation of the rate from slice to slice.
    p
        The p-value of the first change; None if there are too few rows to test for one.
    """

    name: str | None
    starts: Vector
    rows: Vector
    shares: Vector
    changes: tuple[int, ...]
    levels: tuple[float, ...]
    wobble: Wobble
    p: float | None

    def in_words(self, dated: bool, most: int = 6) -> str:
        """Write the first rates and until when each held; times are dates if they count seconds."""
        ends = [self.moment(i, dated) for i in self.changes]
        parts = [f"{rate:.1%} until {end}" for rate, end in zip(self.levels, ends, strict=False)]
        parts = parts[: most - 1]
        last = "..." if len(self.levels) > most else f"{self.levels[-1]:.1%}"
        return ", then ".join([*parts, last])

    def moment(self, place: int, dated: bool) -> str:
        """Write where a slice of time begins."""
        step = float(np.diff(self.starts).min()) if len(self.starts) > 1 else 0.0
        return moment_in_words(float(self.starts[place]), dated, step)


def follow_rates(
    decisions: Decisions, cube: Binned | None, design: float = 1.0
) -> tuple[Course, ...]:
    """Return the course of the rate over time, of all arms together and of the largest ones.

    Parameters
    ----------
    decisions
        A log with its columns named.
    cube
        Its mature rows by arm and place in time, from `count_over_time`.
    design
        Design effect: the variance of counts over that of independent rows.
    """
    counts, bins = decisions.counts, decisions.bins
    if bins is None or cube is None or not len(cube.rows):
        return ()
    largest = np.sort(np.argsort(-counts.rows, kind="stable")[:FOLLOWED]).tolist()
    arms = largest if len(counts) > 1 else []
    courses: list[Course] = []
    for arm in (None, *arms):
        chosen = slice(None) if arm is None else cube.arm == arm
        strata, filled = strata_of(cube, bins, chosen)
        if len(filled):
            name = None if arm is None else counts.names[arm]
            # a common change is most visible in all arms together
            common = courses[0].wobble if courses else Wobble()
            test = _Test(design, common, 1 + len(arms))
            courses.append(_course(name, strata, bins.starts[filled], test))
    return tuple(courses)


def strata_of(cube: Binned, bins: Bins, chosen: Any = slice(None)) -> tuple[Strata, Whole]:
    """Return counts by arm, weekday or hour, and filled bin, and which bins those are.

    Weekdays are separate strata in logs of two weeks and more whose bins are shorter than a week,
    hours
    of the day in shorter logs whose arms have rows enough.
    """
    arm, place = cube.arm[chosen], cube.place[chosen]
    key = arm
    if bins.days >= 14 and not bins.weekly:
        key = arm * 7 + bins.weekday_of(place)
    elif LEAST_DAYS <= bins.days < 14:
        per_arm = float(cube.rows[chosen].sum()) / len(np.unique(arm))
        blocks = next((n for n in BLOCKS_OF_A_DAY if per_arm >= n * PER_STRATUM), 1)
        parts = bins.count // bins.days
        key = arm * blocks + place % parts * blocks // parts
    _, stratum = np.unique(key, return_inverse=True)
    filled, group = np.unique(bins.bin_of(place), return_inverse=True)
    rows, seen = cube.rows[chosen].astype(float), cube.seen[chosen].astype(float)
    return Strata(stratum, group, rows, seen), filled


class _Test(NamedTuple):
    """How a series is tested: the design effect of counts, the least wobble, how many series."""

    design: float
    common: Wobble
    series: int


def _course(name: str | None, strata: Strata, starts: Vector, test: _Test) -> Course:
    found = score_over_time(strata, len(starts))
    whole, edges = merged(found)
    p: float | None = None
    changes: tuple[int, ...] = ()
    wobble = test.common
    if len(edges) >= 3 and whole.variance.sum() >= LEAST_IN_ALL:
        own = find_wobble(whole.score, whole.variance, test.design)
        wobble = Wobble(max(own.variance, wobble.variance), min(own.free, wobble.free))
        changes, p = find_changes(
            *wobble.damp(whole.score, whole.information),
            spread=test.design,
            free=wobble.free,
            series=test.series,
        )
    else:
        edges = np.arange(len(starts))
    slices = strata._replace(group=np.searchsorted(edges, strata.group, side="right") - 1)
    stretches = slices._replace(group=np.searchsorted(changes, slices.group, side="right"))
    return Course(
        name,
        starts[edges],
        sum_by(slices.group, strata.rows, len(edges)),
        levels_at_fixed_mix(slices, len(edges)),
        changes,
        tuple(levels_at_fixed_mix(stretches, len(changes) + 1).tolist()),
        wobble,
        p,
    )
