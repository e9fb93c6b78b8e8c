"""Five ways to treat a missing reward, played on the same rates."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from halfseen.censorship import PerArm
from halfseen.checks import Vector
from halfseen.policies import UCB, DoublyRobust, ImputeMean, ImputeZero, InversePropensity
from halfseen.problems import ArmedBandit
from halfseen.studies.result import Result
from halfseen.studies.simulate import simulate
from halfseen.studies.study import Study
from halfseen.tables import Table, table


def compare_imputations(
    means: Sequence[float] | Vector,
    observe: Sequence[float] | Vector,
    *,
    noise: float | Sequence[float] | None = None,
    reward: str = "gaussian",
    horizon: int = 20_000,
    replications: int = 50,
    seed: int = 0,
    progress: Callable[[int, int, str], None] | None = None,
) -> Result:
    """Simulate UCB with missing rewards skipped, zero, the mean, weighted, and doubly robust.

    Parameters
    ----------
    means
        Mean reward of each arm.
    observe
        Probability that each arm's reward is seen; the last two ways use it.
    noise
        Standard deviation of the rewards, one number or one per arm; 1 if left out.
    reward
        The law of the rewards, as in `halfseen.ArmedBandit`.
    horizon, replications, seed
        As in `halfseen.Study`.
    progress
        Called with what is done, the total and a name.

    Returns
    -------
    Result
        As of any study: its ``summary()`` is the table of regrets, and
        `halfseen.report.write_report` draws it.

    Examples
    --------
    >>> found = compare_imputations([0.6, 0.4], [0.2, 0.9], noise=0.5, horizon=2000, replications=5)
    >>> [row["policy"] for row in found.summary()][:3]
    ['skip', 'zero', 'mean so far']
    """
    rates = tuple(float(p) for p in observe)
    study = Study(
        ArmedBandit(tuple(float(mean) for mean in means), noise, reward=reward),
        {"your feedback": PerArm(rates)},
        {
            "skip": UCB(),
            "zero": ImputeZero(),
            "mean so far": ImputeMean(),
            "inverse propensity": InversePropensity(rates),
            "doubly robust": DoublyRobust(rates),
        },
        horizon=horizon,
        replications=replications,
        seed=seed,
        baseline=False,
    )
    return simulate(study, progress=progress)


def imputation_table(result: Result) -> Table:
    """Return the regret of each way, and its ratio to skipping."""
    records = result.summary().records()
    skipped = records[0]["regret"]
    return table(
        [
            {
                "missing rewards": record["policy"],
                "regret": record["regret"],
                "± 95%": record["± 95%"],
                "times that of skipping": record["regret"] / skipped if skipped else None,
            }
            for record in records
        ]
    )
