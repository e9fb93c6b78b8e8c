"""Information-directed sampling by variances, with the probability of being observed."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

import numpy as np

from halfseen import checks
from halfseen.checks import Vector
from halfseen.draws import BOX_END, BOX_STEP, BOXES, Stream, mantissa, normal_from, uniform, words
from halfseen.errors import InvalidInput
from halfseen.kernels.compile_hints import inline, shared
from halfseen.kernels.draw_order import (
    ACROSS,
    GAP,
    NEXT,
    OWN,
    SPREAD,
    action_places,
    actions_size,
    coordinates,
    drawing_workspace,
    lanes,
    normals_size,
    order_draws,
    place_action,
)
from halfseen.kernels.information_ratio import CHANCE, FIRST, SECOND, least_ratio
from halfseen.kernels.posterior_gains import estimate_gains
from halfseen.policies.linear.base import LinearKnowledge, LinearPolicy, LinearSetting
from halfseen.problems.action_sets import SECOND as SECOND_OF_PAIR

NOISE, DRAWS, REFRESH, OBSERVE = range(4)  # columns of the constants
IGNORED, KNOWN, LEARNED = OBSERVES = ("ignored", "known", "learned")
COIN = (1 << 24) - 1  # a counter of the stream that no draw uses
# Memory: what `least_ratio` wrote, the number of rewards learned by then, the round in which new
# normal numbers are drawn, then vectors, from the next multiple of `LANES` on.
LEARNED_AT, DUE, HEAD = 4, 5, 8


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
    across, kept, draws = action_places(count), coordinates(d), int(table[DRAWS])
    gaps, gains = memory[HEAD : HEAD + across], memory[HEAD + across : HEAD + 2 * across]
    start = HEAD + 2 * across
    edge = start + across // ACROSS * actions_size(kept)
    size = normals_size(d, draws)
    actions, normals = memory[start:edge], memory[edge : edge + size]
    work = memory[edge + lanes(size) :]
    late = clock >= memory[DUE] or known.same == 0
    fresh = late or memory[LEARNED_AT] != known.learned
    if late:
        draw_normals(stream, clock, d, draws, normals, work)
        memory[DUE] = clock + table[REFRESH]
        for k in range(count):
            place = place_action(k, kept) + OWN * ACROSS
            for i in range(d):
                actions[place + i * NEXT] = rows[k, i]
    if fresh:
        posterior = (known.estimate, known.factor)
        estimate_gains(actions, count, posterior, table[NOISE], draws, normals)
        memory[LEARNED_AT] = known.learned
    if fresh or table[OBSERVE] == 2.0:
        for k in range(count):
            observe = 1.0
            if table[OBSERVE] == 1.0:
                observe = known.observe[k]
            elif table[OBSERVE] == 2.0:
                observe = (known.seen[k] + 1.0) / (known.plays[k] + 2.0)
            place = place_action(k, kept)
            gaps[k] = actions[place + GAP * ACROSS]
            gains[k] = observe * actions[place + SPREAD * ACROSS]
        least_ratio(gaps[:count], gains[:count], memory[:4])
    if memory[CHANCE] > 0.0 and uniform(stream, clock, COIN) < memory[CHANCE]:
        return int(memory[SECOND])
    return int(memory[FIRST])


@shared
def draw_normals(
    stream: Stream, clock: int, d: int, draws: int, normals: Vector, work: Vector
) -> None:
    """Write standard normal numbers by coordinate and draw, those of `fill_normals` for each draw.

    First the mantissas and the bits that choose their boxes, which takes vector instructions; the
    few numbers that need more draws are made one by one.
    """
    width, pairs = lanes(draws), (d + 1) // 2
    drawn = work[: 2 * pairs * width]
    boxes = work[2 * pairs * width :]
    box, other_box = boxes[:width], boxes[width : 2 * width]
    for pair in range(pairs):
        first = drawn[2 * pair * width : (2 * pair + 1) * width]
        second = drawn[(2 * pair + 1) * width : (2 * pair + 2) * width]
        for x in range(width):
            high, low, other_high, other_low = words(stream, clock, x * pairs + pair)
            first[x], second[x] = mantissa(high, low), mantissa(other_high, other_low)
            box[x], other_box[x] = high & BOXES, other_high & BOXES
        stretch(stream, clock, pairs, pair, first, box)
        stretch(stream, clock, pairs, pair + SECOND_OF_PAIR, second, other_box)
    order_draws(drawn, d, draws, normals, boxes)


@inline
def stretch(
    stream: Stream, clock: int, pairs: int, start: int, numbers: Vector, boxes: Vector
) -> None:
    """Turn mantissas into normal numbers."""
    for x in range(numbers.size):
        box = int(boxes[x])
        if numbers[x] < BOX_END[box]:
            numbers[x] *= BOX_STEP[box]
        else:
            place = x * pairs + start
            high, low, other_high, other_low = words(stream, clock, place & (SECOND_OF_PAIR - 1))
            if place >= SECOND_OF_PAIR:
                high, low = other_high, other_low
            numbers[x] = normal_from(high, low, stream, clock, place)


@dataclass(frozen=True, repr=False)
class VIDS(LinearPolicy):
    r"""Randomise between two actions to minimise the information ratio: variance-based IDS.

    Thetas are drawn from the posterior :math:`N(\hat\theta,\sigma^2W^{-1})`. With :math:`b` the
    best action of a draw, action a has the expected gap :math:`E\langle b,\theta\rangle-\langle
    a,E\theta\rangle` and the gain :math:`p_a\,\mathrm{Var}\,E[\langle a,\theta\rangle\mid b]`: a
    play has p times the information of its reward. The policy plays the distribution with the least
    (mean gap)²/(mean gain).

    Parameters
    ----------
    regularization
        The ridge's lambda, above 0; :math:`\sigma^2/\lambda` is the variance of the prior.
    observe
        ``"learned"``: p is (seen + 1)/(played + 2), of each action of a fixed set, of each region
        where actions change and a `MultiThreshold` censors them, and the same for all elsewhere.
        ``"known"``: the policy is given p. ``"ignored"``: p is left out.
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
    _: KW_ONLY
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
        places = action_places(actions)
        groups = 2 * places + places // ACROSS * actions_size(coordinates(dimension))
        drawing = lanes(normals_size(dimension, self.draws)) + drawing_workspace(
            dimension, self.draws
        )
        return HEAD + groups + drawing

    def check_live(self) -> None:
        """Refuse ``observe="known"`` in an agent, which does not know p."""
        if self.observe == KNOWN:
            raise InvalidInput(
                "VIDS.observe",
                "must be 'learned' or 'ignored' in an agent",
                self.observe,
                "Use 'learned'.",
            )
