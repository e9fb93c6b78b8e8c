"""The gap-free regret bound of MOSS."""

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
    """Return why no bound is proved for MOSS, or None if one is.

    The textbook proof counts the observations of an arm at which its index is too large. With
    delays it fails, as any number of further plays may be outstanding at each of them.
    """
    if world.under_way is not None:
        return "proved only for feedback without delays"
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
    r"""Return the terms of the bound on the regret of MOSS at its horizon.

    If its dimension is D, the sum of 1/p, the bound is
    :math:`39\sigma\sqrt{DT}+\sum_a\Delta_a/p_a`. If it is the number of arms K, the policy's
    observed rounds are those of the uncensored bandit, for which the textbook bounds
    :math:`\sum_a\Delta_aEN_a`, and an observation of a worse arm takes at most 1/min p rounds on
    average.
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
