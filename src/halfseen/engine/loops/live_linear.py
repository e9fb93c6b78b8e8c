"""Single decisions of a linear policy, for the live agent.

As in `halfseen.engine.loops.changing_set`, ``index`` and the constants in capitals are filled in
with a policy's own. The state is three arrays, so that few arguments are passed to compiled code.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from halfseen.checks import Vector
from halfseen.draws import POLICY, Stream
from halfseen.engine.arguments import (
    DESIGN,
    DUE,
    ESTIMATE,
    INVERSE,
    LEARNED,
    NOISE,
    REGULARIZATION,
    REST,
    SCRATCH,
    SHAKE,
    SPREAD,
    TARGET,
    TARGET_REST,
    V,
)
from halfseen.kernels.cholesky import lower_factor
from halfseen.kernels.ridge import (
    accumulate,
    next_refactor,
    observe_action,
    refactor,
    update_estimate,
)
from halfseen.kernels.ties import tie_edge
from halfseen.policies.linear.base import LinearKnowledge
from halfseen.problems.action_arrays import SLACK
from halfseen.problems.action_sets import fill_normals

if TYPE_CHECKING:
    from halfseen.policies.linear.lin_ucb import index
    from halfseen.policies.linear.vids import choose as own_choice

SAMPLES = False


def reset(matrices: Vector, vectors: Vector, numbers: Vector) -> None:
    """Reset everything but the regularization."""
    lam = numbers[REGULARIZATION]
    matrices[...] = 0.0
    vectors[...] = 0.0
    for i in range(matrices.shape[1]):
        matrices[INVERSE, i, i] = 1.0 / lam
        matrices[DESIGN, i, i] = lam
    numbers[SPREAD] = 0.0
    numbers[LEARNED] = 0.0
    numbers[DUE] = next_refactor(0, matrices.shape[1])


def select_action(
    rows: Vector,
    matrices: Vector,
    vectors: Vector,
    numbers: Vector,
    clock: int,
    key0: int,
    key1: int,
    table: Vector,
) -> int:
    """Return the row with the largest index, or -1-k if row k is not finite or too long."""
    count, d = rows.shape
    stream = (key0, key1, 0, POLICY)
    inverse = matrices[INVERSE]
    if SAMPLES:
        lower_factor(inverse, matrices[SCRATCH])
        fill_normals(stream, clock, 0, vectors[NOISE])
        for i in range(d):
            total = 0.0
            for j in range(i + 1):
                total += matrices[SCRATCH, i, j] * vectors[NOISE, j]
            vectors[SHAKE, i] = total
    chosen = 0
    edge = -math.inf
    for k in range(count):
        length = 0.0
        mean = 0.0
        shift = 0.0
        square = 0.0
        for i in range(d):
            length += rows[k, i] * rows[k, i]
            mean += rows[k, i] * vectors[ESTIMATE, i]
            if SAMPLES:
                shift += rows[k, i] * vectors[SHAKE, i]
            total = 0.0
            for j in range(d):
                total += inverse[i, j] * rows[k, j]
            square += total * rows[k, i]
        if not length <= (1.0 + SLACK) * (1.0 + SLACK):
            return -1 - k
        value = index(mean, square, numbers[SPREAD], shift, k, clock, stream, table)
        if value > edge:
            edge = tie_edge(value)
            chosen = k
    return chosen


def knowledge(
    state: tuple[Vector, Vector, Vector], count: int, plays: int, seen: int
) -> LinearKnowledge:
    """Return the input of the kernel `choose`; actions have no identity here."""
    matrices, vectors, numbers = state
    counts = np.full(count, float(plays)), np.full(count, float(seen)), np.ones(count)
    return LinearKnowledge(vectors[ESTIMATE], matrices[SCRATCH], numbers[LEARNED], *counts, 0)


def select_freely(
    rows: Vector,
    known: LinearKnowledge,
    inverse: Vector,
    memory: Vector,
    clock: int,
    stream: Stream,
    table: Vector,
) -> int:
    """Return the choice of a policy with its own `choose` kernel, or -1-k like `select_action`."""
    for k in range(rows.shape[0]):
        length = 0.0
        for i in range(rows.shape[1]):
            length += rows[k, i] * rows[k, i]
        if not length <= (1.0 + SLACK) * (1.0 + SLACK):
            return -1 - k
    lower_factor(inverse, known.factor)
    return own_choice(rows, known, memory, clock, stream, table)


def absorb_action(
    x: Vector, reward: float, matrices: Vector, vectors: Vector, numbers: Vector
) -> None:
    """Learn the observed reward of an action."""
    d = x.size
    s = observe_action(matrices[INVERSE], x, vectors[V])
    update_estimate(vectors[ESTIMATE], x, vectors[V], s, reward)
    accumulate(matrices[DESIGN], matrices[REST], vectors[TARGET], vectors[TARGET_REST], x, reward)
    numbers[SPREAD] += math.log(1.0 + s)
    numbers[LEARNED] += 1.0
    if numbers[LEARNED] == numbers[DUE]:
        numbers[SPREAD] = refactor(
            matrices[DESIGN],
            vectors[TARGET],
            matrices[SCRATCH],
            matrices[INVERSE],
            vectors[ESTIMATE],
        ) - d * math.log(numbers[REGULARIZATION])
        numbers[DUE] = next_refactor(int(numbers[LEARNED]), d)
