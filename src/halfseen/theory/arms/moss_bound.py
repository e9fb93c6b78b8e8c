"""The bound on the regret of MOSS, whatever the gaps."""

from __future__ import annotations

import math

import numpy as np

from halfseen.policies import MOSS
from halfseen.policies.arms.horizon_share import ARMS, LEARNED
from halfseen.problems import ArmedBandit
from halfseen.theory.arms.bound_terms import Terms, World

CONSTANT = 39.0
OF_DIMENSION = "Lattimore, Szepesvari (2020), theorem 9.1, with K -> D and first plays 1/p"
OF_ARMS = "Lattimore, Szepesvari (2020), theorem 9.1, by the observed clock"


def moss_obstacle(problem: ArmedBandit, policy: MOSS, world: World) -> str | None:
    """Return why nothing is proved of MOSS here, None if it is.

    The textbook counts after how many observations an arm's index is too large, not up to which
    one: between two of them any number of messages under way may be played for.
    """
    if world.under_way is not None:
        return "proved for feedback that is not late"
    if not problem.law.sub_gaussian:
        return f"proved for sub-Gaussian rewards, not for {problem.law.in_words()}"
    if len(set(world.noise.tolist())) > 1:
        return "proved for one noise, the same for all arms"
    if policy.dimension == LEARNED:
        return "proved for a known dimension, not for a learned one"
    total = float(np.sum(1.0 / world.observe))
    if policy.dimension != ARMS and not math.isclose(float(policy.dimension), total, rel_tol=1e-6):
        return f"proved for dimension = the sum of 1/p, {total:.9g}"
    return None


def moss_terms(policy: MOSS, world: World) -> Terms:
    r"""Return the parts of the bound on the regret at the horizon of MOSS.

    With D, the sum of 1/p: :math:`39\sigma\sqrt{DT}+\sum_a\Delta_a/p_a`. With K in its place the
    policy plays, seen at its observations, the uncensored bandit, in which the textbook bounds
    :math:`\sum_a\Delta_aEN_a`, and an observation costs at most 1/min p rounds of worse arms.
    """
    sigma = float(world.noise.max())
    rounds = world.horizon if world.tuned is None else world.tuned
    if policy.dimension != ARMS:
        total = float(np.sum(1.0 / world.observe))
        return {
            "all gaps alike": CONSTANT * sigma * math.sqrt(total * rounds),
            "first plays": float(np.sum(world.gaps / world.observe)),
        }
    worse = world.gaps > 0.0
    rare = float(world.observe[worse].min()) if worse.any() else 1.0
    return {
        "all gaps alike": CONSTANT * sigma * math.sqrt(len(world.gaps) * rounds) / rare,
        "first plays": float(world.gaps.sum()) / rare,
    }
