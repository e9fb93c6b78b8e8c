"""Single decisions of a generalized linear policy, for the live agent and for changing sets.

``index``, ``fit`` and the constants in capitals are filled in with a policy's and a link's own. The
state is three arrays, laid out as in `halfseen.engine.loops.live_linear` with further entries, and
the observed rounds: their actions, rewards and an array of ones. The likelihood is refitted when
the determinant of the design has grown by `GROWTH`; until then estimate and widths do not change.
"""

from __future__ import annotations

import math
from functools import cache
from types import FunctionType
from typing import TYPE_CHECKING

from halfseen.checks import Vector
from halfseen.draws import POLICY
from halfseen.engine.arguments import (
    CURVE,
    DESIGN,
    DUE,
    ESTIMATE,
    EXPLORING,
    FITTED_AT,
    GLM_SIZES,
    GRADIENT,
    HESSIAN,
    INVERSE,
    LEARNED,
    LIMIT,
    NOISE,
    OLDER,
    OTHER,
    PRIOR,
    REGULARIZATION,
    REPLICATION,
    REST,
    SCRATCH,
    SHAKE,
    SPREAD,
    TARGET,
    TARGET_REST,
    TOLD,
    History,
    V,
)
from halfseen.engine.loops.glm_steps import form, shake_by_curve, without_ridge
from halfseen.engine.specialise import fitted
from halfseen.kernels.cholesky import exceeds, lower_factor
from halfseen.kernels.glm_newton import Likelihood, NewtonWork, maximise
from halfseen.kernels.ridge import accumulate, next_refactor, observe_action, refactor
from halfseen.kernels.ties import tie_edge
from halfseen.policies.glm.base import GROWTH, SEEN_ONCE, GLMKernels
from halfseen.problems.action_arrays import SLACK
from halfseen.problems.links import LinkKernels

if TYPE_CHECKING:
    from halfseen.kernels.glm_newton import maximise as fit
    from halfseen.policies.linear.lin_ucb import index

SAMPLES = False
EXPLORES = False
MATRICES, VECTORS = GLM_SIZES


def reset_glm(matrices: Vector, vectors: Vector, numbers: Vector) -> None:
    """Reset everything but the regularization, the prior, the limit and the replication."""
    d = matrices.shape[1]
    lam = numbers[REGULARIZATION]
    for m in range(MATRICES):
        if m != PRIOR:
            for i in range(d):
                for j in range(d):
                    matrices[m, i, j] = 0.0
    for v in range(VECTORS):
        for i in range(d):
            vectors[v, i] = 0.0
    for i in range(d):
        matrices[INVERSE, i, i] = 1.0 / lam
        matrices[OLDER, i, i] = 1.0 / lam
        matrices[DESIGN, i, i] = lam
    numbers[SPREAD] = 0.0
    numbers[LEARNED] = 0.0
    numbers[DUE] = next_refactor(0, d)
    numbers[TOLD] = 0.0
    numbers[FITTED_AT] = 0.0
    numbers[EXPLORING] = 1.0 if EXPLORES else 0.0
    if SAMPLES:
        lower_factor(matrices[PRIOR], matrices[CURVE])


def choose_glm(
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
    stream = (key0, key1, int(numbers[REPLICATION]), POLICY)
    if SAMPLES:
        shake_by_curve(stream, clock, matrices[CURVE], vectors[NOISE], vectors[SHAKE])
    exploring = numbers[EXPLORING] > 0.0
    inverse = matrices[INVERSE] if exploring else matrices[OLDER]
    chosen = 0
    edge = -math.inf
    for k in range(count):
        length = 0.0
        mean = 0.0
        shift = 0.0
        for i in range(d):
            length += rows[k, i] * rows[k, i]
            mean += rows[k, i] * vectors[ESTIMATE, i]
            if SAMPLES:
                shift += rows[k, i] * vectors[SHAKE, i]
        if not length <= (1.0 + SLACK) * (1.0 + SLACK):
            return -1 - k
        value = form(inverse, rows[k])
        if not exploring:
            value = index(mean, value, numbers[TOLD], shift, k, clock, stream, table)
        if value > edge:
            edge = tie_edge(value)
            chosen = k
    return chosen


def learn_glm(
    x: Vector,
    gained: float,
    matrices: Vector,
    vectors: Vector,
    numbers: Vector,
    history: History,
) -> bool:
    """Learn the observed reward of an action; True if the likelihood was refitted.

    The history must have space for one more round.
    """
    d = x.size
    design, inverse, prior = matrices[DESIGN], matrices[INVERSE], matrices[PRIOR]
    learned = int(numbers[LEARNED])
    for i in range(d):
        history.kept[learned, i] = x[i]
    history.paid[learned] = gained
    learned += 1
    numbers[LEARNED] = learned
    s = observe_action(inverse, x, vectors[V])
    accumulate(design, matrices[REST], vectors[TARGET], vectors[TARGET_REST], x, gained)
    numbers[SPREAD] += math.log1p(s)
    left = False  # whether exploration ends with this round
    if EXPLORES and numbers[EXPLORING] > 0.0:
        without_ridge(design, numbers[REGULARIZATION], prior, matrices[OTHER])
        left = exceeds(matrices[OTHER], design, 0.0, SEEN_ONCE, matrices[SCRATCH])
        numbers[EXPLORING] = 0.0 if left else 1.0
    if learned == numbers[DUE] or left:
        if EXPLORES and numbers[EXPLORING] == 0.0:
            without_ridge(design, numbers[REGULARIZATION], prior, matrices[OTHER])
            design = matrices[OTHER]
        logdet = refactor(design, vectors[TARGET], matrices[SCRATCH], inverse, vectors[V])
        numbers[SPREAD] = logdet - d * math.log(numbers[REGULARIZATION])
        numbers[DUE] = next_refactor(learned, d)
    grown = numbers[SPREAD] > numbers[FITTED_AT] + math.log1p(GROWTH)
    if numbers[EXPLORING] > 0.0 or not (left or learned == 1 or grown):
        return False
    given = Likelihood(
        history.kept, learned, history.ones, history.paid, numbers[LIMIT], matrices[PRIOR]
    )
    newton = NewtonWork(
        history.z, vectors[GRADIENT], vectors[V], matrices[HESSIAN], matrices[CURVE]
    )
    fit(given, vectors[ESTIMATE], newton)
    numbers[FITTED_AT] = numbers[SPREAD]
    numbers[TOLD] = d * math.log1p(2.0 * learned / d) if EXPLORES else numbers[SPREAD]
    for i in range(d):
        for j in range(d):
            matrices[OLDER, i, j] = inverse[i, j]
    return True


@cache
def with_link(function: FunctionType, kernels: GLMKernels, link: LinkKernels) -> FunctionType:
    """Return one of these functions with a policy's and a link's own filled in."""
    return fitted(function, kernels, fit=maximiser(link))


@cache
def maximiser(kernels: LinkKernels) -> FunctionType:
    """Return `maximise` with a link's functions filled in."""
    return fitted(maximise, kernels)
