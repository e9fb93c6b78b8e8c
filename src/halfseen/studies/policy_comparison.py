"""Which policy did better, by how much and with what confidence: paired on the same draws."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from halfseen import checks
from halfseen.display import Shown
from halfseen.errors import InvalidInput, did_you_mean
from halfseen.tables import Table, level_name, table

if TYPE_CHECKING:
    from halfseen.studies.result import Result

AXES = ("problem", "censorship", "policy")
Floats = NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class MeanInterval(Shown):
    """A mean over replications and half the width of its interval; None for one replication."""

    mean: float
    half_width: float | None

    @property
    def excludes_zero(self) -> bool:
        """Whether the interval lies on one side of 0."""
        return self.half_width is not None and abs(self.mean) > self.half_width


def mean_interval(values: Floats, level: float = 0.95, tests: int = 1) -> MeanInterval:
    """Return the mean of independent values with its Student interval.

    Parameters
    ----------
    values
        One value per replication.
    level
        Confidence of all `tests` intervals together (Bonferroni).

    Examples
    --------
    >>> found = mean_interval(np.array([1.0, 2.0, 3.0]))
    >>> found.mean, round(found.half_width, 4)
    (2.0, 2.4841)
    """
    from scipy.special import stdtrit

    count = values.size
    mean = float(values.mean())
    if count < 2:
        return MeanInterval(mean, None)
    quantile = float(stdtrit(count - 1, 1.0 - (1.0 - level) / (2.0 * tests)))
    return MeanInterval(mean, quantile * float(values.std(ddof=1)) / math.sqrt(count))


def compare(result: Result, first: str, second: str, axis: str, level: float) -> Table:
    """Return the paired difference of regret at the horizon; see `Result.compare`."""
    if axis not in AXES:
        raise InvalidInput("axis", "must be problem, censorship or policy", axis, "Use policy.")
    level = checks.number("level", level, above=0.0, below=1.0)
    names = names_of(result)
    place = AXES.index(axis)
    one, other = (_place(names[place], axis, name) for name in (first, second))
    others = [name for name in AXES if name != axis]
    records = []
    for rest in np.ndindex(*(len(names[AXES.index(name)]) for name in others)):
        difference = _final(result, _inserted(rest, place, one)) - _final(
            result, _inserted(rest, place, other)
        )
        interval = mean_interval(difference, level)
        low, high = _ends(interval)
        where = {name: names[AXES.index(name)][i] for name, i in zip(others, rest, strict=True)}
        records.append(
            where
            | {
                "difference": interval.mean,
                f"± {level_name(level)}": interval.half_width,
                "low": low,
                "high": high,
                "share lower": float(np.mean(difference < 0) + np.mean(difference == 0) / 2),
            }
        )
    return table(records)


def best(result: Result, level: float) -> Table:
    """Return the policy with the lowest mean regret in every world; see `Result.best`."""
    level = checks.number("level", level, above=0.0, below=1.0)
    problems, censorships, policies = names_of(result)
    records = []
    for i, problem in enumerate(problems):
        for j, censorship in enumerate(censorships):
            final = np.stack([_final(result, (i, j, k)) for k in range(len(policies))])
            order = np.argsort(final.mean(axis=1), kind="stable")
            record: dict[str, Any] = {
                "problem": problem,
                "censorship": censorship,
                "best": policies[order[0]],
                "regret": float(final[order[0]].mean()),
            }
            rivals = [
                mean_interval(final[k] - final[order[0]], level, len(policies) - 1)
                for k in order[1:]
            ]
            record["next"] = policies[order[1]] if rivals else None
            record["behind by"] = rivals[0].mean if rivals else None
            together = f"± {level_name(level)}, together"
            record[together] = rivals[0].half_width if rivals else None
            record["clear"] = all(rival.excludes_zero for rival in rivals) if rivals else None
            records.append(record)
    return table(records)


def slope(result: Result, since: float, level: float) -> Table:
    """Return the growth of regret on log-log axes; see `Result.slope`."""
    level = checks.number("level", level, above=0.0, below=1.0)
    since = checks.number("since", since, above=0.0, below=1.0)
    rounds = result.study.rounds_recorded
    start = int(np.searchsorted(rounds, since * result.study.horizon))
    if rounds[start] >= result.study.horizon:
        raise InvalidInput(
            "since",
            "must leave a recorded round before the horizon",
            since,
            "Lower it, or record more checkpoints.",
        )
    span = math.log(result.study.horizon / rounds[start])
    names = names_of(result)
    records = []
    for position, _ in result.study.cells():
        early = result.tracks["regret"][position][:, start]
        late = _final(result, position)
        where: dict[str, Any] = {axis: names[g][position[g]] for g, axis in enumerate(AXES)}
        where |= {"from round": int(rounds[start]), "slope": None, f"± {level_name(level)}": None}
        if early.mean() > 0 and late.mean() > 0:
            where["slope"] = math.log(late.mean() / early.mean()) / span
            influence = (late / late.mean() - early / early.mean()) / span  # delta method
            where[f"± {level_name(level)}"] = mean_interval(influence, level).half_width
        records.append(where)
    return table(records)


def names_of(result: Result) -> tuple[list[str], list[str], list[str]]:
    """Return the names of the problems, censorships and policies."""
    study = result.study
    return list(study.problems), list(study.censorships), list(study.policies)


def _final(result: Result, position: tuple[int, ...]) -> Floats:
    final: Floats = result.tracks["regret"][position][:, -1]
    return final


def _inserted(rest: tuple[int, ...], place: int, value: int) -> tuple[int, ...]:
    return (*rest[:place], value, *rest[place:])


def _place(names: list[str], axis: str, name: str) -> int:
    if name not in names:
        fix = did_you_mean(name, names, f"Use one of: {', '.join(names)}.", 0.5)
        raise InvalidInput(axis, f"must be the name of a {axis} of the study", name, fix)
    return names.index(name)


def _ends(interval: MeanInterval) -> tuple[float | None, float | None]:
    if interval.half_width is None:
        return None, None
    return interval.mean - interval.half_width, interval.mean + interval.half_width
