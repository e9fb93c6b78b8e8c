"""Information-directed sampling by variances, with the probability of being observed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from halfseen import checks
from halfseen.checks import Vector
from halfseen.draws import Stream, uniform
from halfseen.errors import InvalidInput
from halfseen.kernels.compile_hints import inline, shared
from halfseen.kernels.information_ratio import CHANCE, FIRST, SECOND, least_ratio
from halfseen.policies.linear.base import LinearKnowledge, LinearPolicy, LinearSetting
from halfseen.problems.action_sets import fill_normals

NOISE, DRAWS, REFRESH, OBSERVE = range(4)  # columns of the constants
IGNORED, KNOWN, LEARNED = OBSERVES = ("ignored", "known", "learned")
COIN = (1 << 24) - 1  # a counter of the stream that no draw uses
# Memory: what `least_ratio` wrote, the number of rewards learned by then, the round in which new
# normal numbers are drawn, then vectors.
LEARNED_AT, DUE, HEAD = 4, 5, 6


def choose(
    rows: Vector,
    known: LinearKnowledge,
    memory: Vector,
    clock: int,
    stream: Stream,
    table: Vector,
) -> int:
    """Return one of the two actions that together have the least information ratio."""
    count, d = rows.shape
    gaps, gains = memory[HEAD : HEAD + count], memory[HEAD + count : HEAD + 2 * count]
    spreads = memory[HEAD + 2 * count : HEAD + 3 * count]
    late = clock >= memory[DUE] or known.same == 0
    fresh = late or memory[LEARNED_AT] != known.learned
    if late:
        draw_normals(memory, d, clock, stream, table)
        memory[DUE] = clock + table[REFRESH]
    if fresh:
        estimate_gains(rows, known.estimate, known.factor, memory, table)
        memory[LEARNED_AT] = known.learned
    if fresh or table[OBSERVE] == 2.0:
        for k in range(count):
            observe = 1.0
            if table[OBSERVE] == 1.0:
                observe = known.observe[k]
            elif table[OBSERVE] == 2.0:
                observe = (known.seen[k] + 1.0) / (known.plays[k] + 2.0)
            gains[k] = observe * spreads[k]
        least_ratio(gaps, gains, memory[:4])
    if memory[CHANCE] > 0.0 and uniform(stream, clock, COIN) < memory[CHANCE]:
        return int(memory[SECOND])
    return int(memory[FIRST])


@shared
def draw_normals(memory: Vector, d: int, clock: int, stream: Stream, table: Vector) -> None:
    """Write standard normal numbers at the end of the memory, by coordinate and draw."""
    draws = int(table[DRAWS])
    normals = memory[memory.size - d * draws :]
    noise = memory[memory.size - d * draws - d : memory.size - d * draws]
    for draw in range(draws):
        fill_normals(stream, clock, draw, noise)
        for i in range(d):
            normals[i * draws + draw] = noise[i]


@shared
def estimate_gains(
    rows: Vector, estimate: Vector, factor: Vector, memory: Vector, table: Vector
) -> None:
    """Write each action's expected gap and the variance of it that its best action explains.

    Thetas are drawn from the posterior. With b the best action of a draw, the gap of a is the mean
    of <b, theta> less the mean of <a, theta>, and the variance that of the mean of <a, theta> given
    b. Loops over draws are innermost, so that several are computed at a time.
    """
    count, d = rows.shape
    draws = int(table[DRAWS])
    gaps, spreads = memory[HEAD : HEAD + count], memory[HEAD + 2 * count : HEAD + 3 * count]
    start = HEAD + 3 * count
    wins, sums = memory[start : start + count], memory[start + count : start + count + count * d]
    start += count + count * d
    mean, scaled = memory[start : start + d], memory[start + d : start + 2 * d]
    start += 2 * d
    top, best = memory[start : start + draws], memory[start + draws : start + 2 * draws]
    start += 2 * draws
    value, thetas = memory[start : start + draws], memory[start + draws :]
    normals = memory[memory.size - d * draws :]
    for i in range(d):
        for j in range(i + 1):
            scaled[j] = table[NOISE] * factor[i, j]
        theta = thetas[i * draws : (i + 1) * draws]
        combine(estimate[i], scaled[: i + 1], normals, theta)
    for draw in range(draws):
        top[draw] = -np.inf
    for k in range(count):
        combine(0.0, rows[k], thetas, value)
        for draw in range(draws):
            best[draw] = k if value[draw] > top[draw] else best[draw]
            top[draw] = value[draw] if value[draw] > top[draw] else top[draw]
    for k in range(count):
        wins[k] = 0.0
        for i in range(d):
            sums[k * d + i] = 0.0
    total = 0.0
    for draw in range(draws):
        b = int(best[draw])
        wins[b] += 1.0
        total += top[draw]
        for i in range(d):
            sums[b * d + i] += thetas[i * draws + draw]
    for i in range(d):
        mean[i] = 0.0
        for b in range(count):
            mean[i] += sums[b * d + i] / draws
    for k in range(count):
        gap = total / draws - inner(rows[k], mean)
        gaps[k] = gap if gap > 0.0 else 0.0
        spreads[k] = 0.0
    for b in range(count):
        if wins[b] > 0.0:
            apart = sums[b * d : (b + 1) * d]
            for i in range(d):
                apart[i] = apart[i] / wins[b] - mean[i]
            share = wins[b] / draws
            for k in range(count):
                along = inner(rows[k], apart)
                spreads[k] += share * (along * along)


@inline
def combine(start: float, factors: Vector, numbers: Vector, out: Vector) -> None:
    """Write a number plus a combination of vectors that lie one after the other.

    Four vectors are added at a time: `out` is then read and written a quarter as often.
    """
    size, count = out.size, factors.size
    first = 0
    if count < 4:
        for x in range(size):
            out[x] = start
    while first + 4 <= count:
        one, two, three, four = (
            numbers[first * size : (first + 1) * size],
            numbers[(first + 1) * size : (first + 2) * size],
            numbers[(first + 2) * size : (first + 3) * size],
            numbers[(first + 3) * size : (first + 4) * size],
        )
        a, b, c, e = factors[first], factors[first + 1], factors[first + 2], factors[first + 3]
        if first == 0:
            for x in range(size):
                out[x] = (((start + a * one[x]) + b * two[x]) + c * three[x]) + e * four[x]
        else:
            for x in range(size):
                out[x] = (((out[x] + a * one[x]) + b * two[x]) + c * three[x]) + e * four[x]
        first += 4
    while first < count:
        one, a = numbers[first * size : (first + 1) * size], factors[first]
        for x in range(size):
            out[x] += a * one[x]
        first += 1


@inline
def inner(row: Vector, theta: Vector) -> float:
    """Return the product of two vectors."""
    total = 0.0
    for i in range(theta.size):
        total += row[i] * theta[i]
    return total


@dataclass(frozen=True, repr=False)
class VIDS(LinearPolicy):
    r"""Randomise between two actions so that regret buys information: variance-based IDS.

    Thetas are drawn from the posterior :math:`N(\hat\theta,\sigma^2W^{-1})`. With :math:`b` the
    best action of a draw, action a has the expected gap
    :math:`E\langle b,\theta\rangle-\langle a,E\theta\rangle` and the gain
    :math:`p_a\,\mathrm{Var}\,E[\langle a,\theta\rangle\mid b]`: a play teaches p times what its
    reward would. Played is the distribution with the least (mean gap)²/(mean gain).

    Parameters
    ----------
    regularization
        The ridge's lambda, above 0; :math:`\sigma^2/\lambda` is the variance of the prior.
    observe
        ``"learned"``: p is (seen + 1)/(played + 2), of each action of a fixed set, of each region
        where actions change and a `MultiThreshold` censors them, and the same for all elsewhere.
        ``"known"``: the policy is told p. ``"ignored"``: p is left out.
    draws
        How many thetas are drawn from the posterior, after every observation.
    refresh
        For how many rounds they are made from the same normal numbers; 1 where actions change.

    Notes
    -----
    It has no guarantee of its own, and its regret has heavy tails: rare runs cost many times the
    median.

    References
    ----------
    Russo, Van Roy, *Learning to optimize via information-directed sampling*, 2018, Section 6.
    """

    kind: ClassVar[str] = "vids"
    regularization: float = 1.0
    observe: str = LEARNED
    draws: int = 60
    refresh: int = 16
    choose = staticmethod(choose)

    def __post_init__(self) -> None:
        self._keep("regularization", above=0.0, fix="Use 1.0.")
        checks.one_of("VIDS.observe", self.observe, OBSERVES)
        for name, least in (("draws", 2), ("refresh", 1)):
            value = checks.whole(
                f"VIDS.{name}", getattr(self, name), at_least=least, at_most=10_000
            )
            object.__setattr__(self, name, value)

    def table(self, setting: LinearSetting) -> Vector:
        """Return sigma, the number of draws, the refresh and what is known of p."""
        mode = OBSERVES.index(self.observe)
        return np.array([setting.noise, self.draws, self.refresh, mode], dtype=float)

    def memory(self, actions: int, dimension: int) -> int:
        """Return how many numbers are kept for so many actions."""
        kept = HEAD + actions * (4 + dimension) + 2 * dimension
        return kept + self.draws * (3 + 2 * dimension)

    def check_live(self) -> None:
        """Refuse to be told p by an agent, which does not know it."""
        if self.observe == KNOWN:
            raise InvalidInput(
                "VIDS.observe",
                "must be 'learned' or 'ignored' in an agent",
                self.observe,
                "Use 'learned'.",
            )
