"""How long until the best arm is found, with the actual feedback and with complete feedback."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from halfseen import checks
from halfseen.censorship import PerArm
from halfseen.checks import Vector
from halfseen.display import Tabular
from halfseen.equality import ByValue
from halfseen.errors import InvalidInput
from halfseen.logs.forecast import Forecast, loss_curve
from halfseen.logs.futures import Futures, follow
from halfseen.logs.goal import Goal, checked_goal
from halfseen.policies import UCB, Policy
from halfseen.studies.study import EVERYTHING_SEEN
from halfseen.tables import Table, listed, table, with_error
from halfseen.theory import regret_bounds
from halfseen.theory.along_a_run import bounded_policies

if TYPE_CHECKING:
    import altair as alt

FUTURES, FEWEST = 200, 50
ROUNDS = 4e8  # rounds simulated in each world at most, unless 50 futures need more
SURE = 3.0  # standard errors beyond which two worlds differ
YOURS = "your feedback"
LAWS = {"gaussian": "normal rewards", "bernoulli": "rewards of 0 or 1"}


@dataclass(frozen=True, eq=False, repr=False)
class Plan(Tabular, ByValue):
    """A forecast with the actual feedback, next to one with complete feedback.

    Attributes
    ----------
    goal
        The goal.
    traffic, length
        Decisions per day, and days.
    yours, everything
        The forecasts with the actual and with complete feedback.
    reward
        The law of the rewards simulated.
    drawn
        True if every future has its own means and rates, drawn from the posterior given a log.
    left_out
        Arms of the log that were never seen.
    in_blocks
        True if a "day" is only a block of decisions, as in `Audit.outlook`.
    """

    _frame = "worlds"

    goal: Goal
    traffic: float
    length: int
    yours: Forecast
    everything: Forecast
    reward: str = "gaussian"
    drawn: bool = False
    left_out: tuple[str, ...] = ()
    in_blocks: bool = False

    @property
    def worlds(self) -> Table:
        """One row per world."""
        proved = [world.bound for world in (self.yours, self.everything)]
        return table(
            [
                {
                    "world": world.name,
                    "1 in 10 by day": _day(world.quantile(0.1)),
                    "half by day": _day(world.quantile(0.5)),
                    "9 in 10 by day": _day(world.quantile(0.9)),
                    "never": world.never,
                    "regret": float(world.regret.mean()),
                    **({} if None in proved else {"proved at most": world.bound}),
                }
                for world in (self.yours, self.everything)
            ]
        )

    def plot(self) -> alt.Chart:
        """Return a chart of the reward lost per day, with 8 in 10 futures around the median."""
        from halfseen.report.audit.charts import forecast_chart
        from halfseen.report.core.style import chart_of

        return chart_of(forecast_chart(self, str(self.goal)))

    @property
    def findings(self) -> tuple[str, ...]:
        """The forecast in sentences."""
        return tuple(
            f"With {world.name}: {self._in_words(world)}."
            for world in (self.yours, self.everything)
        )

    def _in_words(self, world: Forecast) -> str:
        early, half = world.quantile(0.1), world.quantile(0.5)
        latest = self.goal.last_day(self.length)
        by = f"within {self.length:,} days"
        if latest < self.length - self.goal.days:
            by = f"by day {latest:,}, the latest that {self.length:,} days can show"
        if math.isinf(early):
            return f"fewer than 1 in 10 futures get there {by}; the plan is too short to say more"
        first = f"1 in 10 futures get there by day {early:,.0f}"
        if math.isfinite(half):
            first = f"half of the futures get there by day {half:,.0f}, 1 in 10 by day {early:,.0f}"
        if world.never == 0.0:
            return f"{first}, all within {self.length:,} days"
        return f"{first}; {100 * world.never:.2g}% do not {by}"

    @property
    def factor(self) -> float:
        """How many times as long the median future takes as with everything seen."""
        mine, whole = self.yours.quantile(0.5), self.everything.quantile(0.5)
        return math.nan if math.isinf(whole) else mine / whole

    @property
    def times_as_long(self) -> str:
        """The factor in short; what it exceeds where the median future is not seen to get there."""
        if math.isinf(self.factor):
            return f">{self.goal.last_day(self.length) / self.everything.quantile(0.5):.2g}×"
        return "–" if math.isnan(self.factor) else f"{float(f'{self.factor:.2g}'):,.6g}×"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values; None where the goal is not met."""
        return {
            "goal": str(self.goal),
            "goal_share": self.goal.share,
            "goal_days": self.goal.days,
            "goal_kept": self.goal.kept,
            "close": self.goal.close,
            "target": self.goal.target,
            "traffic": self.traffic,
            "days": self.length,
            "futures": len(self.yours.days),
            "drawn_from_log": self.drawn,
            "left_out": list(self.left_out),
            "reward": self.reward,
            "factor": self.factor if math.isfinite(self.factor) else None,
            "findings": list(self.findings),
            "worlds": [
                {
                    "world": world.name,
                    "day_10_percent": _day(world.quantile(0.1)),
                    "day_50_percent": _day(world.quantile(0.5)),
                    "day_90_percent": _day(world.quantile(0.9)),
                    "never": world.never,
                    "regret": float(world.regret.mean()),
                    "bound": world.bound,
                }
                for world in (self.yours, self.everything)
            ],
        }

    @property
    def premises(self) -> str:
        """The goal, and the assumptions of the forecast."""
        count = len(self.yours.days)
        own = (
            ", each with its own means and rates, drawn from their posterior given the log"
            if self.drawn
            else ""
        )
        cut = count < FUTURES and FUTURES * self.traffic * self.length > ROUNDS
        fewer = f" (fewer than {FUTURES}, as the plan is long)" if cut else ""
        words = (
            f"The goal is {self.goal}. Simulated: a learner that starts without data,"
            f" {self.traffic:,.6g} decisions a day, {LAWS[self.reward]}, {count} futures{fewer}"
            f"{own}."
        )
        if self.left_out:
            words += f" Left out, as nothing is known of them: {listed(self.left_out)}."
        return words

    def _headline(self) -> str:
        return " ".join(self.findings)

    def _details(self) -> list[str | Table]:
        return [self.premises, self.worlds]

    def __str__(self) -> str:
        return (
            f"{self.premises}\n\n" + "\n".join(self.findings) + f"\n\n{self.worlds}\n\n"
            f"{self.surprise}Empty: not within {self.length:,} days. It assumes that, given the"
            " arm, what goes missing does not depend on the reward."
        )

    @property
    def surprise(self) -> str:
        """A sentence if less feedback has less regret, or if that is undetermined; else empty.

        The difference is judged future by future, as both worlds of one have the same means.
        """
        more = self.yours.regret - self.everything.regret
        if not more.any() or len(more) < 2:
            return ""
        mean, error = float(more.mean()), float(more.std(ddof=1)) / math.sqrt(len(more))
        if mean > SURE * error:
            return ""
        if mean >= -SURE * error:
            return (
                f"In {len(more):,} futures, regret does not differ significantly between the two"
                f" worlds (a difference of {with_error(mean, error)}, with its standard error). "
            )
        return (
            "With less feedback regret is lower here: a best arm that is rarely seen is explored"
            " for longer. This is luck; if another arm is best, the same rates increase regret. "
        )


def plan(
    means: Sequence[float] | Vector,
    observe: Sequence[float] | Vector,
    *,
    traffic: float,
    days: float = 365,
    goal_share: float = 0.9,
    goal_days: int = 7,
    goal_kept: float = 1.0,
    close: float = 0.0,
    target: float | None = None,
    noise: float | Sequence[float] | None = None,
    reward: str = "gaussian",
    policy: Policy | None = None,
    futures: int | None = None,
    seed: int = 0,
    progress: Callable[[int, int, str], None] | None = None,
) -> Plan:
    """Forecast how long a bandit needs.

    Parameters
    ----------
    means
        Mean reward of each arm; with the best at 0, minus the gaps. Or one row of them per future.
    observe
        Probability that each arm's reward is seen. Or one row per future.
    traffic
        Decisions per day.
    days
        Length of the plan, in whole days.
    goal_share, goal_days, goal_kept
        The goal is met on the first day d such that of all decisions of the `goal_days` days from
        d on at least `goal_share` go to a best arm, and again from d on for `goal_kept` times as
        long as it took to get there; at 0, luck counts too.
    close
        Arms whose mean is at most this much below the best one count as best.
    target
        Reward lost per day to get under, over `goal_days` days, instead of that share.
    noise
        Standard deviation of the rewards, one number or one per arm; 1 if left out, and fixed by
        rewards of 0 or 1.
    reward
        ``"gaussian"``, normal rewards, or ``"bernoulli"``, rewards of 0 or 1.
    policy
        The policy that decides; by default `UCB`.
    futures
        How many to simulate, one run each; left out, 200, or at least 50 if the plan is long.
    seed
        Seed of the simulation.
    progress
        Called with what is done, the total and a name.

    Returns
    -------
    Plan
        On which day 10%, 50% and 90% of futures meet the goal, and how many never do.

    Notes
    -----
    A goal kept as long as it took can be shown in the first half of a plan only.

    Examples
    --------
    >>> found = plan([0.6, 0.4], [0.2, 0.9], traffic=1000, days=30, noise=0.5, futures=20)
    >>> found.yours.quantile(0.5) <= found.yours.quantile(0.9)
    True
    """
    flow = checks.number("traffic", traffic, above=0.0, fix="Use for example 1000.")
    span = checks.number("days", days, at_least=1.0, fix="Use for example 365.")
    goal, length = checked_goal(goal_share, goal_days, goal_kept, close, target), int(span)
    if length < goal.days:
        raise InvalidInput(
            "days",
            f"must be at least goal_days, {goal.days}, for the goal to be seen",
            days,
            "Plan for longer, or lower goal_days.",
        )
    horizon = flow * length
    if not 2 <= horizon <= 2**40:
        raise InvalidInput(
            "days",
            f"times traffic must be at least 2 and at most {2**40:,} decisions",
            horizon,
            "Plan for longer." if horizon < 2 else "Plan for less.",
        )
    reward = checks.one_of("reward", reward, tuple(LAWS))
    if futures is None:
        futures = int(np.clip(ROUNDS / horizon, FEWEST, FUTURES))
    futures = checks.whole("futures", futures, at_least=1, at_most=100_000)
    world, drawn = _futures(means, observe, noise, reward, futures)
    chosen = UCB() if policy is None else policy
    if not isinstance(chosen, Policy):
        raise InvalidInput("policy", "must be a policy for arms", policy, "Use for example UCB().")
    worlds = []
    done = 0
    for name, each in ((YOURS, world), (EVERYTHING_SEEN, world.all_seen())):

        def report(name: str = name) -> None:
            nonlocal done
            done += 1
            if progress is not None:
                progress(done, 2 * futures, name)

        followed = follow(
            each, chosen, traffic=flow, days=length, close=goal.close, seed=seed, report=report
        )
        bound = None
        if not drawn and type(chosen) in bounded_policies(each.problem(0)):
            seen = PerArm(tuple(each.observe[0].tolist()))
            bound = regret_bounds(each.problem(0), seen, chosen, int(followed.decisions[-1]))
        worlds.append(
            Forecast(
                name,
                goal.first_day(followed),
                followed.regret[:, -1],
                None if bound is None else bound.smallest.value,
                loss_curve(followed.regret),
            )
        )
    return Plan(goal, flow, length, worlds[0], worlds[1], reward, drawn)


def _futures(means: Any, observe: Any, noise: Any, reward: str, count: int) -> tuple[Futures, bool]:
    """Return the futures, and whether each has means of its own."""
    scale = noise
    if not (noise is None or isinstance(noise, int | float)):
        scale = checks.vector("noise", noise)
    drawn = np.ndim(means) == 2
    if not drawn:
        checks.vector("means", means)
    rows, rates = np.array(means, dtype=float), np.array(observe, dtype=float)
    if not drawn:
        rows = np.tile(rows, (count, 1))
    if rates.ndim == 1:
        checks.observation_probabilities("observe", observe)
        rates = np.tile(rates, (count, 1))
    if rows.shape != rates.shape:
        raise InvalidInput(
            "observe",
            f"must have {rows.shape[1]} entries, one per arm",
            f"{rates.shape[1]}",
            "Give as many means as probabilities.",
        )
    found = Futures(rows, rates, scale, reward)
    found.problem(0)  # says what is wrong with the means or the noise
    return replace(found, means=rows[:count], observe=rates[:count]), drawn


def _day(value: float) -> int | None:
    return int(value) if math.isfinite(value) else None
