"""Paired comparison of policies on the same draws."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from halfseen import checks
from halfseen.errors import InvalidInput, did_you_mean
from halfseen.phrases import joined
from halfseen.studies.student_intervals import MeanInterval, mean_interval
from halfseen.tables import Table, level_name, table

if TYPE_CHECKING:
    from halfseen.studies.result import Result

AXES = ("problem", "censorship", "policy")
Floats = NDArray[np.float64]


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
                axis: first,
                "against": second,
                "difference": interval.mean,
                f"± {level_name(level)}": interval.half_width,
                "low": low,
                "high": high,
                "share lower": float(np.mean(difference < 0) + np.mean(difference == 0) / 2),
            }
        )
    return table(records)


@dataclass(frozen=True)
class Leaders:
    """The policies of one world that may be the best, given the replications.

    Attributes
    ----------
    problem, censorship
        The world.
    names
        The policy with the lowest mean regret, then those whose paired differences from it do not
        exclude that they are as good. With probability at least the level a policy with the lowest
        expected regret is among them: it is left out only if one of the others beats it beyond an
        interval that allows for all of them (Bonferroni).
    tie
        True if they all had the same regret in every replication.
    regret
        The lowest mean regret.
    runner_up
        The policy with the second lowest mean regret; None if there is only one policy.
    behind
        How much more it lost than the lowest, paired on the same draws.
    """

    problem: str
    censorship: str
    names: tuple[str, ...]
    tie: bool
    regret: float
    runner_up: str | None
    behind: MeanInterval | None

    @property
    def clear(self) -> bool:
        """Whether all other policies lost significantly more."""
        return len(self.names) == 1

    def __str__(self) -> str:
        if self.tie:
            return f"{joined(self.names, 'and')} tie"
        return joined(self.names, "or")


def leaders(result: Result, level: float = 0.95) -> list[Leaders]:
    """Return the policies that may be the best in every world."""
    level = checks.number("level", level, above=0.0, below=1.0)
    problems, censorships, policies = names_of(result)
    found = []
    for i, j in np.ndindex(len(problems), len(censorships)):
        final = np.stack([_final(result, (i, j, k)) for k in range(len(policies))])
        lowest, *others = np.argsort(final.mean(axis=1), kind="stable")
        behind = {
            k: mean_interval(final[k] - final[lowest], level, len(policies) - 1) for k in others
        }
        rivals = [k for k in others if not behind[k].excludes_zero]
        found.append(
            Leaders(
                problems[i],
                censorships[j],
                tuple(policies[k] for k in (lowest, *rivals)),
                bool(rivals) and all(np.array_equal(final[k], final[lowest]) for k in rivals),
                float(final[lowest].mean()),
                policies[others[0]] if others else None,
                behind[others[0]] if others else None,
            )
        )
    return found


def leading_rows(result: Result, level: float = 0.95) -> list[int]:
    """Return which cells, in the order of the study, have a policy that may be the best."""
    worlds = {(world.problem, world.censorship): world.names for world in leaders(result, level)}
    names = names_of(result)
    found = []
    for place, (position, _) in enumerate(result.study.cells()):
        problem, censorship, policy = (names[g][i] for g, i in enumerate(position))
        if policy in worlds[problem, censorship]:
            found.append(place)
    return found


def best(result: Result, level: float) -> Table:
    """Return the policies that may be the best in every world as a table; see `Result.best`."""
    adjusted = f"± {level_name(level)}, adjusted"  # for several comparisons, unlike `compare`
    return table(
        [
            {
                "problem": world.problem,
                "censorship": world.censorship,
                "best": str(world),
                "regret": world.regret,
                "next": world.runner_up,
                "behind by": None if world.behind is None else world.behind.mean,
                adjusted: None if world.behind is None else world.behind.half_width,
                "clear": None if world.behind is None else world.clear,
            }
            for world in leaders(result, level)
        ]
    )


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
