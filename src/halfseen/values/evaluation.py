"""The estimates of one or two policies on a log."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from halfseen.errors import InvalidInput
from halfseen.values.cell_errors import FEW, CellMeans, few_rewards
from halfseen.values.feature_bounds import FeatureBounds, reward_tails
from halfseen.values.gamma_value import weighted_cells
from halfseen.values.influence import (
    CLIPPED,
    ESTIMATORS,
    Influence,
    Sample,
    empirical_bernstein,
    influence,
    normal_interval,
)
from halfseen.values.log_groups import LogGroups
from halfseen.values.nuisances import NuisanceModel, Nuisances
from halfseen.values.policy_value import Estimate, PolicyValue
from halfseen.values.rare_rewards import RARE, RareRewards
from halfseen.values.resampling import action_weight, bootstrap, weighting
from halfseen.values.target_policy import PolicyOnLog
from halfseen.values.value_bounds import Bounded
from halfseen.values.weight_diagnostics import FAR, diagnose

WEIGHTED_ONLY = ("IPW", "SNIPW", "clipped IPW")  # need no probabilities of arms not logged


class Evaluation:
    """The estimates of one or two policies on a log."""

    def __init__(
        self,
        log: LogGroups,
        model: NuisanceModel,
        fit: Nuisances,
        policies: Sequence[PolicyOnLog],
        threshold: float,
        level: float,
    ) -> None:
        self.log, self.model, self.policies = log, model, policies
        self.threshold, self.level = threshold, level
        self.weightings = [weighting(log, fit, policy) for policy in policies]
        self.observe = fit.observe
        self.rare = RareRewards(log.sample, (log.cell, log.arm))
        self.weights = [action_weight(fit, policy) for policy in policies]
        self.means = None
        if model.outcome in ("cells", "arms"):
            self.means = CellMeans(log, model.outcome == "cells")
        first = self.weightings[0]
        self.diagnostics = diagnose(log.sample, first.weight, self.weights[0], fit.propensity)

    @property
    def available(self) -> list[str]:
        """The estimators that these policies allow."""
        partial = any(np.isnan(w.expected).any() for w in self.weightings)
        return [name for name in ESTIMATORS if not partial or name in WEIGHTED_ONLY]

    def influence(self, estimator: str, policy: int) -> Influence:
        """Return the values of decisions for one of the policies."""
        return influence(estimator, self.log.sample, self.weightings[policy], self.threshold)

    def _spread_is_not_error(self, estimator: str) -> bool:
        """Return whether a bias, or the regression's error, is not captured by influence values."""
        if estimator in ("clipped IPW", "clipped DR", "switch-DR"):
            weights = (w.weight[self.log.sample.seen].max() for w in self.weightings)
            return bool(max(weights) > self.threshold)
        return estimator in ("DM", "DRos")

    def _has_few_rewards(self, estimator: str) -> bool:
        """Return whether cells enter that have few rewards, or hardly one of another value."""
        arms, of_arms = self.rare.of_units(self.log.arm), CellMeans(self.log, by_context=False)
        if any((of_arms.played(policy) > 0.0)[arms.few(RARE)].any() for policy in self.policies):
            return True
        if estimator in WEIGHTED_ONLY:
            by = "known" if self.model.known is not None else self.model.observe
        else:
            by = self.model.outcome
        return by in ("cells", "arms") and few_rewards(self.log, by == "cells", self.policies)

    def estimate(
        self, name: str, found: Influence, estimator: str, of: Sequence[int] = (0,)
    ) -> Estimate:
        """Return the estimate of a policy, or of the first less the second."""
        sample = self.log.sample
        mean = found.estimate(sample)
        if self._spread_is_not_error(estimator):
            return Estimate(name, mean, math.nan, math.nan, math.nan)
        error, slopes = found.error(sample), found.slopes
        freedom = found.freedom(sample, self.log.arm)
        if self.means is not None and estimator not in WEIGHTED_ONLY:
            each = [self.means.played(self.policies[k]) for k in of]
            played = each[0] - sum(each[1:])
            error, freedom = self.means.error(found, played)
            slopes = self.means.slopes(found, played)
        error = math.hypot(error, math.sqrt(self.rare.variance(slopes)))
        skew = 0.0 if self.rare.two_values else found.asymmetry(sample, error)
        return Estimate(name, mean, error, *normal_interval(mean, error, self.level, freedom, skew))

    def _thin(self, estimator: str) -> float:
        """Return the share of the policy's decisions in cells that hardly have a mean."""
        if self.means is None or estimator in WEIGHTED_ONLY:
            return 0.0
        return self.means.thin(self.policies[0])

    def result(self, estimator: str | None, options: dict[str, int]) -> PolicyValue:
        """Return the result, apart from how the log was read."""
        if estimator is not None and estimator not in self.available:
            raise InvalidInput(
                "estimator",
                "needs the policy's probabilities of all arms, which a column of the logged arm"
                " does not give",
                estimator,
                f"Use {' or '.join(WEIGHTED_ONLY[:2])}, or give probabilities by arm or context.",
            )
        chosen = estimator or ("DR" if "DR" in self.available else "SNIPW")
        values = [self.influence(chosen, k) for k in range(len(self.policies))]
        main = [
            self.estimate(self.policies[k].name, found, chosen, (k,))
            for k, found in enumerate(values)
        ]
        if len(values) > 1:
            main.append(self.estimate("difference", values[0] - values[1], chosen, (0, 1)))
        if options and self._has_few_rewards(chosen):
            options = {}
        refitted = self.model.refits and chosen != "clipped IPW"  # no refit cures its bias
        if options and (refitted or not self._spread_is_not_error(chosen)):
            main = self._bootstrapped(main, chosen, options)
        sample, skew = self.log.sample, None
        if not self.rare.two_values:
            both = [values[0], values[0] - values[1]] if len(values) > 1 else values
            skew = max(abs(one.skew(sample)) for one in both)
        bounded = self.bounded()
        apart = bounded[1] if len(bounded) > 1 else None
        return PolicyValue(
            estimator=chosen,
            level=self.level,
            interval="bootstrap" if options else "normal",
            threshold=self.threshold,
            target=main[0],
            compared=main[1] if len(main) > 1 else None,
            difference=main[2] if len(main) > 1 else None,
            alternatives=tuple(
                self.estimate(name, self.influence(name, 0), name) for name in self.available
            ),
            certain=self._certain(sample, self.influence("clipped IPW", 0)),
            diagnostics=replace(self.diagnostics, skew=skew, thin=self._thin(chosen)),
            tipping_gamma=None if apart is None else apart.tipping(),
            rows=int(sample.size),
            seen=int(sample.count @ sample.seen),
            bounded=(bounded[0], apart),
        )

    def bounded(self) -> Sequence[Bounded]:
        """Return the bounds of the first policy's value, and of its difference from the second."""
        if not self.log.by_row:
            return weighted_cells(self.log, self.policies, self.weights)
        tails, mean = (
            reward_tails(self.log, self.model, self.weightings[0].fitted),
            self.log.sample.mean,
        )
        robust, found = [self.influence("DR", k) for k in range(len(self.policies))], []
        both = zip((1.0, -1.0), self.weights, strict=False)
        shares = tuple(sign * weight / mean(weight) for sign, weight in both)
        guessed = self.log.propensity is None
        drawn = tuple(guessed and not policy.is_logging for policy in self.policies)
        for number, one in enumerate([robust[0], *(robust[0] - other for other in robust[1:])], 1):
            known = one if np.isfinite(one.values).all() else None
            found.append(
                FeatureBounds(
                    self.log, tails, self.rare, self.observe, shares[:number], drawn[:number], known
                )
            )
        return found

    def _bootstrapped(
        self, main: list[Estimate], estimator: str, options: dict[str, int]
    ) -> list[Estimate]:
        drawn = bootstrap(self.log, self.model, self.policies, estimator, self.threshold, **options)
        if len(main) > 1:
            drawn = np.column_stack([drawn, drawn[:, 0] - drawn[:, 1]])
        tail = (1.0 - self.level) / 2.0
        low, high = np.quantile(drawn, [tail, 1.0 - tail], axis=0)
        error = drawn.std(axis=0, ddof=1)
        return [
            replace(one, standard_error=float(s), low=float(a), high=float(b))
            for one, s, a, b in zip(main, error, low, high, strict=True)
        ]

    def _certain(self, sample: Sample, clipped: Influence) -> float | None:
        rewards = sample.reward[sample.seen]
        if self.log.propensity is None or rewards.min() < 0.0 or abs(self.diagnostics.z) > FAR:
            return None
        mean, variance = clipped.estimate(sample), clipped.variance(sample)
        width = self.threshold * float(rewards.max())
        return empirical_bernstein(mean, variance, sample.size, width, 1.0 - self.level)

    def notes(self, asked: bool, bootstrapped: bool) -> list[str]:
        """Return what is true but changes little; a bootstrap may be asked for and not given."""
        said = []
        if asked and not bootstrapped:
            said.append(
                f"There is no bootstrap: where arms have fewer than {FEW} rewards in a context, or"
                f" fewer than {RARE} that differ from the others, its intervals are too short."
            )
        if bootstrapped and not self.model.refits:
            said.append("The bootstrap keeps the regressions fixed: it leaves their error out.")
        partial = [name for name in ESTIMATORS if name not in self.available]
        if partial:
            said.append(
                "The policy is known for logged arms only: estimators that need the others"
                f" ({', '.join(n for n in partial if n not in CLIPPED)}) are left out."
            )
        return said
