"""Information-directed sampling by variances, with the probability of being observed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from halfseen import checks
from halfseen.checks import Vector
from halfseen.draws import Stream, uniform
from halfseen.errors import InvalidInput
from halfseen.kernels.cholesky import correlate
from halfseen.kernels.compile_hints import shared
from halfseen.kernels.information_ratio import CHANCE, FIRST, SECOND, least_ratio
from halfseen.policies.linear.base import LinearKnowledge, LinearPolicy, LinearSetting
from halfseen.problems.action_sets import fill_normals

NOISE, DRAWS, REFRESH, OBSERVE = range(4)  # constants
IGNORED, KNOWN, LEARNED = OBSERVES = ("ignored", "known", "learned")
COIN = (1 << 24) - 1  # a place in the stream that no draw has
# Memory: what `least_ratio` wrote, when thetas were drawn, then vectors.
SEEN_AT, DRAWN_AT, HEAD = 4, 5, 6


def choose(
    rows: Vector,
    known: LinearKnowledge,
    memory: Vector,
    clock: int,
    stream: Stream,
    table: Vector,
) -> int:
    """Return one of the two actions that together have the least information ratio."""
    count = rows.shape[0]
    gaps, gains = memory[HEAD : HEAD + count], memory[HEAD + count : HEAD + 2 * count]
    spreads = memory[HEAD + 2 * count : HEAD + 3 * count]
    late = clock - memory[DRAWN_AT] >= table[REFRESH]
    fresh = late or known.same == 0 or memory[SEEN_AT] != known.learned + 1.0
    if fresh:
        estimate_gains(rows, known.estimate, known.factor, memory, clock, stream, table)
        memory[SEEN_AT] = known.learned + 1.0
        memory[DRAWN_AT] = clock
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
def estimate_gains(
    rows: Vector,
    estimate: Vector,
    factor: Vector,
    memory: Vector,
    clock: int,
    stream: Stream,
    table: Vector,
) -> None:
    """Draw thetas from the posterior; write each action's expected gap and variance explained.

    With b the best action of a draw, the gap of a is the mean of <b, theta> less the mean of
    <a, theta>, and the variance that of the mean of <a, theta> given b.
    """
    count, d = rows.shape
    draws = int(table[DRAWS])
    vectors = HEAD + 3 * count
    theta, noise, mean = (
        memory[vectors : vectors + d],
        memory[vectors + d : vectors + 2 * d],
        memory[vectors + 2 * d : vectors + 3 * d],
    )
    wins = memory[vectors + 3 * d : vectors + 3 * d + count]
    sums = vectors + 3 * d + count
    for i in range(d):
        mean[i] = 0.0
    for k in range(count):
        wins[k] = 0.0
        for i in range(d):
            memory[sums + k * d + i] = 0.0
    value = 0.0
    for draw in range(draws):
        fill_normals(stream, clock, draw, noise)
        correlate(factor, noise, theta)
        for i in range(d):
            theta[i] = estimate[i] + table[NOISE] * theta[i]
            mean[i] += theta[i]
        best = 0
        top = -np.inf
        for k in range(count):
            along = 0.0
            for i in range(d):
                along += rows[k, i] * theta[i]
            best = k if along > top else best
            top = along if along > top else top
        value += top
        wins[best] += 1.0
        for i in range(d):
            memory[sums + best * d + i] += theta[i]
    for i in range(d):
        mean[i] /= draws
    for k in range(count):
        along = 0.0
        for i in range(d):
            along += rows[k, i] * mean[i]
        gap = value / draws - along
        memory[HEAD + k] = gap if gap > 0.0 else 0.0
        spread = 0.0
        for b in range(count):
            if wins[b] > 0.0:
                apart = 0.0
                for i in range(d):
                    apart += rows[k, i] * (memory[sums + b * d + i] / wins[b] - mean[i])
                spread += wins[b] * apart * apart
        memory[HEAD + 2 * count + k] = spread / draws


@dataclass(frozen=True)
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
        How many thetas are drawn.
    refresh
        After how many rounds without an observation they are drawn anew.

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
        return HEAD + actions * (4 + dimension) + 3 * dimension

    def check_live(self) -> None:
        """Refuse to be told p by an agent, which does not know it."""
        if self.observe == KNOWN:
            raise InvalidInput(
                "VIDS.observe",
                "must be 'learned' or 'ignored' in an agent",
                self.observe,
                "Use 'learned'.",
            )
