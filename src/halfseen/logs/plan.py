"""How long until the best arm is found, with the feedback there is and with all of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from halfseen import checks
from halfseen.censorship import PerArm
from halfseen.checks import Vector
from halfseen.errors import InvalidInput
from halfseen.policies import UCB, Policy
from halfseen.problems import ArmedBandit
from halfseen.studies.simulate import simulate
from halfseen.studies.study import EVERYTHING_SEEN, Study
from halfseen.tables import Table, table
from halfseen.theory import regret_bounds

FOUND = 0.9  # share of decisions that must go to a best arm
HELD = 0.2  # share of the plan for which that must hold to the end
STEPS, DRAWN = 300, 50
ROUNDS = 4e8  # simulated at most in each world, unless 20 replications take more
YOURS = "your feedback"
LAWS = {"gaussian": "normal rewards", "bernoulli": "rewards of 0 or 1"}


@dataclass(frozen=True)
class Forecast:
    """What is expected in one world.

    Attributes
    ----------
    name
        The world.
    days
        Days until the goal is met for good, one number per replication; infinite if it is not.
    regret
        Reward lost over the whole plan, one number per replication.
    bound
        What that loss cannot exceed on average; None for a policy without a proved bound.
    curve
        Reward lost per day: the day, and quantiles 10%, 50% and 90% over replications.
    """

    name: str
    days: Vector
    regret: Vector
    bound: float | None
    curve: Vector

    def quantile(self, share: float) -> float:
        """Return by which day the goal is met with that probability; infinite if never."""
        return float(np.quantile(self.days, share, method="higher"))


@dataclass(frozen=True)
class Plan:
    """A forecast with the feedback there is, next to one with all of it.

    Attributes
    ----------
    goal
        What is waited for, in words.
    traffic, length
        Decisions per day, and days.
    yours, everything
        The two worlds.
    reward
        The law of the rewards simulated.
    """

    goal: str
    traffic: float
    length: float
    yours: Forecast
    everything: Forecast
    reward: str = "gaussian"

    @property
    def worlds(self) -> Table:
        """One row per world."""
        return table(
            [
                {
                    "world": world.name,
                    "median days": _days(world.quantile(0.5)),
                    "90% of the time within": _days(world.quantile(0.9)),
                    "regret": float(world.regret.mean()),
                    "proved at most": world.bound,
                }
                for world in (self.yours, self.everything)
            ]
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values; None where the goal is not met."""
        return {
            "goal": self.goal,
            "traffic": self.traffic,
            "days": self.length,
            "reward": self.reward,
            "worlds": [
                {
                    "world": world.name,
                    "median_days": _days(world.quantile(0.5)),
                    "days_90_percent": _days(world.quantile(0.9)),
                    "regret": float(world.regret.mean()),
                    "bound": world.bound,
                }
                for world in (self.yours, self.everything)
            ],
        }

    def __str__(self) -> str:
        return (
            f"Days until {self.goal}, with {self.traffic:,.6g} decisions a day for"
            f" {self.length:,.6g} days:\n\n{self.worlds}\n\n{self.surprise}Empty: not within the"
            f" plan. Simulated with {LAWS[self.reward]}. It assumes that, given the arm, what goes"
            " missing does not depend on the reward."
        )

    @property
    def surprise(self) -> str:
        """Say so where less feedback does better."""
        if self.yours.regret.mean() >= self.everything.regret.mean():
            return ""
        return (
            "With less feedback less is lost here: a best arm that is rarely seen stays"
            " interesting for longer. It is luck; where another arm is best, the same rates cost. "
        )


def plan(
    means: Sequence[float] | Vector,
    observe: Sequence[float] | Vector,
    *,
    traffic: float,
    days: float = 365.0,
    target: float | None = None,
    noise: float | Sequence[float] | None = None,
    reward: str = "gaussian",
    policy: Policy | None = None,
    replications: int | None = None,
    seed: int = 0,
    progress: Callable[[int, int, str], None] | None = None,
) -> Plan:
    """Forecast how long a bandit needs.

    Parameters
    ----------
    means
        Mean reward of each arm; with the best at 0, minus the gaps.
    observe
        Probability that each arm's reward is seen.
    traffic
        Decisions per day.
    days
        Length of the plan.
    target
        Reward lost per day to get under, for good; left out, wait until 9 of 10 decisions go to
        the best arm.
    noise
        Standard deviation of the rewards, one number or one per arm; 1 if left out, and fixed by
        rewards of 0 or 1.
    reward
        ``"gaussian"``, normal rewards, or ``"bernoulli"``, rewards of 0 or 1.
    policy
        Who decides; `UCB` if left out.
    replications
        How many futures to simulate; left out, up to 200, fewer if the plan is long.
    seed
        Of the simulation.
    progress
        Called with what is done, the total and a name.

    Returns
    -------
    Plan
        Median and 90% of the days, regret, and what is proved.

    Notes
    -----
    The goal is met "for good" when it holds from then to the end of the plan and for at least a
    fifth of it, looked at at 300 moments that are evenly spread on a logarithmic scale: a goal that
    is met in the last days only may be missed again.

    Examples
    --------
    >>> found = plan([0.6, 0.4], [0.2, 0.9], traffic=1000, days=30, noise=0.5, replications=20)
    >>> found.yours.quantile(0.5) <= found.yours.quantile(0.9)
    True
    """
    flow = checks.number("traffic", traffic, above=0.0, fix="Use for example 1000.")
    length = checks.number("days", days, above=0.0, fix="Use for example 365.")
    if target is not None:
        target = checks.number("target", target, above=0.0, fix="Give reward lost per day.")
    horizon = round(min(flow * length, 2.0**41))
    if not 2 <= horizon <= 2**40:
        raise InvalidInput(
            "days",
            f"times traffic must be at least 2 and at most {2**40:,} decisions",
            flow * length,
            "Plan for longer." if horizon < 2 else "Plan for less.",
        )
    reward = checks.one_of("reward", reward, tuple(LAWS))
    problem = ArmedBandit(tuple(map(float, means)), noise, reward)
    censorship = PerArm(tuple(map(float, observe)))
    chosen = UCB() if policy is None else policy
    if replications is None:
        replications = int(np.clip(ROUNDS / horizon, 20, 200))
    study = Study(
        problem,
        {YOURS: censorship, EVERYTHING_SEEN: PerArm([1.0] * problem.arms)},
        chosen,
        horizon=horizon,
        replications=replications,
        seed=seed,
        checkpoints=STEPS,
        alphas=(),
    )
    tracks = simulate(study, progress=progress).tracks
    if target is None:
        goal = f"{FOUND:.0%} of decisions go to the best arm"
    else:
        goal = f"less than {target:,.6g} is lost per day"
    worlds = []
    for j, (name, seen) in enumerate(study.censorships.items()):
        regret = tracks["regret"][0, j, 0]
        best = tracks["pulls"][0, j, 0][..., problem.gaps == 0.0].sum(axis=-1)
        rounds = study.rounds_recorded.astype(float)
        span = np.diff(rounds, prepend=0.0)
        lost = np.diff(regret, axis=1, prepend=0.0) / span * flow
        share = np.diff(best, axis=1, prepend=0) / span
        met = share >= FOUND if target is None else lost < target
        few = np.unique(np.append(np.arange(0, len(rounds), STEPS // DRAWN), len(rounds) - 1))
        slow = np.diff(regret[:, few], axis=1, prepend=0.0)
        slow *= flow / np.diff(rounds[few], prepend=0.0)
        quantiles = np.quantile(slow, [0.1, 0.5, 0.9], axis=0)
        bounds = regret_bounds(problem, seen, chosen, horizon) if isinstance(chosen, UCB) else None
        worlds.append(
            Forecast(
                name,
                _met_for_good(met, rounds / flow),
                regret[:, -1].astype(float),
                bounds.smallest.value if bounds is not None else None,
                np.vstack([rounds[few] / flow, quantiles]),
            )
        )
    return Plan(goal, flow, length, worlds[0], worlds[1], reward)


def _met_for_good(met: np.ndarray[Any, np.dtype[np.bool_]], days: Vector) -> Vector:
    """Return, per row, the day after the last on which the goal was not met, if that is early."""
    ends = np.concatenate([[0.0], days])
    steps = met.shape[1]
    last = steps - np.argmax(~met[:, ::-1], axis=1)  # one past the last failure
    last[met.all(axis=1)] = 0
    found = ends[last]
    found[~met[:, -1] | (days[-1] - found < HELD * days[-1])] = math.inf
    return found


def _days(value: float) -> float | None:
    return value if math.isfinite(value) else None
