"""What an audit advises: the best arm, bounds, forecasts, and where feedback is worth most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from halfseen.checks import Vector
from halfseen.errors import InvalidInput
from halfseen.logs.best_arm import BestArm, best_arm
from halfseen.logs.columns import Columns
from halfseen.logs.counts import Counts
from halfseen.logs.dimension import Dimension, estimate_dimension
from halfseen.logs.missing_bounds import MeanBounds, Tipping, mean_bounds, tipping_gamma
from halfseen.logs.posterior import DOUBT, draw_means, draw_rates, spreads
from halfseen.logs.rates import fit_prior
from halfseen.logs.seen_rewards import SeenRewards
from halfseen.logs.worth_most import WorthMost, worth_most
from halfseen.tables import listed

if TYPE_CHECKING:
    from halfseen.logs.invest import Investment
    from halfseen.logs.maturity import Maturity
    from halfseen.logs.plan import Plan
    from halfseen.logs.warnings.log_warning import LogWarning
    from halfseen.studies.result import Result

BLOCK, BLOCKS, OUTLOOKS = 200, 500, 100  # decisions per block, blocks, simulated futures
FEW_ARMS = 100  # no outlook is simulated for more arms


class Advice:
    """The part of an `Audit` that gives advice."""

    log: str
    columns: Columns
    counts: Counts
    rewards: SeenRewards | None
    effective_dimension: Dimension
    maturity: Maturity | None
    warnings: tuple[LogWarning, ...]
    level: float
    designed: bool

    if TYPE_CHECKING:

        @property
        def arms(self) -> tuple[str, ...]:
            """Names of the arms."""

        @property
        def effective_rows(self) -> Vector:
            """Decisions of known outcome."""

        @property
        def effective_seen(self) -> Vector:
            """How many of those were seen."""

        @property
        def observe(self) -> Vector:
            """Share of rewards seen."""

    def winner(self, level: float = 0.95, *, designed: bool | None = None) -> BestArm | None:
        """Return the best arm as far as the seen rewards show it; None without rewards.

        Parameters
        ----------
        level
            Confidence level at which the arm must be shown to be best.
        designed
            Whether arms were drawn independently of rewards and the log is inspected once; left
            out, as in the audit.
        """
        told = self.designed if designed is None else designed
        skewness = None
        if told and self.rewards is not None:
            skewness = dict(zip(self.rewards.names, self.rewards.skewness.tolist(), strict=True))
        found = best_arm(self.counts, level=level, designed=told, skewness=skewness)
        return None if found is None else found.doubted(self.warnings)

    @cached_property
    def best(self) -> BestArm | None:
        """The best arm as far as the rewards seen show it, at the audit's level."""
        return self.winner(self.level)

    @cached_property
    def worth_most(self) -> WorthMost | None:
        """The arm on which more feedback is worth most, among those seen."""
        known = self.effective_seen > 0.0
        return worth_most(
            self.counts.named(known), self.effective_seen[known], self.effective_rows[known]
        )

    @cached_property
    def dimension_of_seen(self) -> Dimension | None:
        """The effective dimension of the arms that were seen at all; None if none was."""
        known = self.effective_seen > 0.0
        if known.all():
            return self.effective_dimension
        seen, rows = self.effective_seen[known], self.effective_rows[known]
        return estimate_dimension(seen, rows, level=self.level) if len(seen) else None

    @property
    def headline_dimension(self) -> Dimension:
        """The effective dimension of the arms that were seen at all; of all arms if none was."""
        return self.dimension_of_seen or self.effective_dimension

    @property
    def upper_end(self) -> bool:
        """Whether delays exceed the length of the log, so that the factor is an upper bound."""
        waited = self.maturity
        return waited is not None and not waited.stated and not waited.reached

    @cached_property
    def never_seen(self) -> tuple[str, ...]:
        """The arms of which no reward was seen."""
        return self.counts.named(self.counts.seen == 0)

    @cached_property
    def without_rate(self) -> tuple[str, ...]:
        """The arms of which no reward was seen, or none within the window."""
        return self.counts.named(self.effective_seen <= 0.0)

    @property
    def complete(self) -> bool:
        """Whether every reward was seen, and within the window."""
        whole = bool((self.counts.seen == self.counts.rows).all())
        return whole and bool((self.effective_seen >= self.effective_rows).all())

    def bounds(
        self, gamma: float = 2.0, *, between: tuple[float, float] | None = None
    ) -> MeanBounds:
        """Bound every arm's mean reward if missing rewards differ from the ones seen.

        Parameters
        ----------
        gamma
            How many times the odds of being seen differ at most between two rewards; infinite for
            the worst case, in which a missing reward can be anything in the range of rewards.
        between
            That range; the one of the rewards seen if left out.
        """
        if self.rewards is None:
            raise InvalidInput("log", "must hold rewards", self.log, "Name the column of rewards.")
        return mean_bounds(self.rewards, gamma, between)

    @cached_property
    def tipping(self) -> Tipping | None:
        """The smallest Gamma at which another arm may be best; None without missing rewards."""
        return None if self.rewards is None else tipping_gamma(self.rewards)

    def plan(self, traffic: float, **options: Any) -> Plan:
        """Forecast how long a bandit needs with this log's means, noise and rates.

        Every future has its own means and rates, drawn from their posterior given the log. Arms
        never seen are excluded.

        Parameters
        ----------
        traffic
            Decisions per day.
        options
            Those of `halfseen.plan`.
        """
        from halfseen.logs.plan import FUTURES, plan

        known = ~np.isnan(self.counts.mean)
        if not known.any():
            raise InvalidInput("log", "must hold rewards", self.log, "Name the column of rewards.")
        arms = self.counts.part(known)
        rng = np.random.default_rng(options.get("seed", 0))
        count = options.get("futures") or FUTURES
        means = draw_means(arms, count, rng)
        seen, rows = self.effective_seen[known], self.effective_rows[known]
        rates = draw_rates(seen, rows, count, rng)
        law = self.law(known)
        if options.get("noise") is not None:
            if arms.binary:
                raise InvalidInput(
                    "noise",
                    "must be left out: all rewards of the log are 0 or 1, which fixes it",
                    options["noise"],
                    "Leave it out.",
                )
            del law["noise"]
        else:
            options.pop("noise", None)
        found = plan(means, rates, traffic=traffic, **law, **options)
        return replace(found, left_out=self.never_seen)

    def outlook(self) -> Plan | None:
        """Forecast, in decisions, how much longer learning takes than with complete feedback.

        None where there is nothing to compare: fewer than two arms seen, nothing missing, more
        than 100 arms, or no rewards. Its "days" are blocks of 200 decisions.
        """
        known = ~np.isnan(self.counts.mean)
        if self.complete or not 2 <= int(known.sum()) <= FEW_ARMS:
            return None
        return replace(self.plan(BLOCK, days=BLOCKS, futures=OUTLOOKS), in_blocks=True)

    def invest(
        self,
        budget: float,
        cost: float | Sequence[float] | Mapping[str, float] | None = None,
        *,
        noise: float | Sequence[float] | None = None,
    ) -> Investment:
        """Split a budget for more feedback among the arms of this log, by shrunken rates.

        Parameters
        ----------
        budget
            Money to spend.
        cost
            What seeing all of an arm instead of none of it would cost: one number, a number for
            each arm by name, or one per arm in the order of `arms`; left out, the log's own costs
            for as many decisions as it holds.
        noise
            Standard deviation of the rewards, one number or one per arm; the log's own if left out.
        """
        from halfseen.logs.invest import invest

        if cost is None:
            cost = (self.counts.cost * self.counts.rows).tolist()
            if self.columns.cost is None:
                raise InvalidInput("cost", "must be given", None, "Or name a column of costs.")
        if isinstance(cost, Mapping):
            if set(cost) != set(self.arms):
                raise InvalidInput(
                    "cost",
                    f"must name every arm of the log once: {listed(self.arms)}",
                    ", ".join(cost),
                    "Write red=100,blue=50.",
                )
            cost = [cost[arm] for arm in self.arms]
        seen, rows = self.effective_seen, self.effective_rows
        a, b = fit_prior(seen, rows, doubt=DOUBT).posterior(seen, rows)
        rates = np.where(seen == rows, 1.0, a / (a + b))
        scale = self.noise() if noise is None else noise
        return invest(np.maximum(rates, 1e-12), cost, budget, noise=scale, names=self.arms)

    def compare_imputations(self, **options: Any) -> Result:
        """Simulate five ways to treat missing rewards with this log's means, noise and rates.

        Parameters
        ----------
        options
            Those of `halfseen.compare_imputations`, such as ``horizon``.
        """
        from halfseen.logs.imputation import compare_imputations

        law = self.law(np.ones(len(self.arms), dtype=bool))
        return compare_imputations(self.means(), self.observe, **law, **options)

    def means(self) -> Vector:
        """Return the mean reward of every arm; raise if some have none."""
        if np.isnan(self.counts.mean).any():
            unknown = [self.arms[i] for i in np.flatnonzero(np.isnan(self.counts.mean))]
            raise InvalidInput(
                "log",
                "must hold a reward of every arm",
                f"none of {listed(unknown)}",
                "Name the column of rewards, or leave those arms out.",
            )
        return self.counts.mean

    def noise(self) -> list[float]:
        """Return the standard deviation of every arm's rewards, or the pooled one where unknown."""
        known = ~np.isnan(self.counts.mean)
        if not known.any():
            return [1.0] * len(known)
        scale = np.ones(len(known))
        scale[known] = spreads(self.counts.part(known))
        usual = float(scale[known].mean())
        scale[~known | (scale == 0.0)] = usual if usual > 0.0 else 1.0
        return scale.tolist()

    def law(self, arms: Any) -> dict[str, Any]:
        """Return how to simulate rewards like those seen, of some arms."""
        if self.counts.binary:
            return {"reward": "bernoulli"}
        return {"noise": np.array(self.noise())[arms].tolist()}
