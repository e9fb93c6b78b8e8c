"""Bootstrap of the rows of a log."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from halfseen.checks import Vector
from halfseen.values.influence import Sample, Weighting, influence
from halfseen.values.log_groups import LogGroups
from halfseen.values.nuisances import NuisanceModel, Nuisances
from halfseen.values.target_policy import PolicyOnLog


def weighting(log: LogGroups, fit: Nuisances, policy: PolicyOnLog) -> Weighting:
    """Return a policy's weights and expected rewards on the decisions of a log."""
    fitted = fit.outcome[log.place, log.arm]
    if policy.table is None:  # of the logging policy the logged arm is a draw
        expected = fitted if policy.is_logging else np.full(len(fitted), np.nan)
    else:
        expected = (policy.table * fit.outcome).sum(axis=1)[log.place]
    return Weighting(action_weight(fit, policy) / fit.observe, fitted, expected)


def action_weight(fit: Nuisances, policy: PolicyOnLog) -> Vector:
    """Return w: the policy's probability of each logged arm over its propensity."""
    if policy.is_logging:
        return np.ones(len(policy.logged))
    played = policy.logged > 0.0
    return np.where(played, policy.logged / np.where(played, fit.propensity, 1.0), 0.0)


def bootstrap(
    log: LogGroups,
    model: NuisanceModel,
    policies: Sequence[PolicyOnLog],
    estimator: str,
    threshold: float,
    *,
    resamples: int,
    seed: int,
) -> Vector:
    """Return the estimates of some policies in resamples of the log, one row per resample.

    Nuisances that come from counts are refitted; regressions stay fixed.
    """
    rng = np.random.default_rng(seed)
    size = int(log.sample.size)
    share, fixed = log.sample.count / size, None if model.refits else model.fit(log)
    found = np.empty((resamples, len(policies)))
    for i in range(resamples):
        count = rng.multinomial(size, share).astype(float)
        fit = model.fit(log, count) if fixed is None else fixed
        sample = Sample(count, log.sample.seen, log.sample.reward, log.sample.within)
        for k, policy in enumerate(policies):
            values = influence(estimator, sample, weighting(log, fit, policy), threshold)
            found[i, k] = values.estimate(sample)
    return found
