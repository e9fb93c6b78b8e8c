"""Proved bounds next to measurements: a table at the horizon, and curves over the rounds."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfseen.checks import Vector
from halfseen.errors import InvalidInput
from halfseen.phrases import counted
from halfseen.report.study.linear_measures import final_potential
from halfseen.report.study.measures import Place, Position
from halfseen.studies.folder import stored_study
from halfseen.studies.result import Result
from halfseen.studies.study import Study
from halfseen.tables import factor, show, table
from halfseen.theory import Bound, LowerBounds, RegretBounds, lower_bounds, regret_bounds
from halfseen.theory.along_a_run import bounded_policies
from halfseen.theory.arms.bounds import regret_bounds_along
from halfseen.theory.linear.bounds import MEASURED
from halfseen.theory.lower.gathered import slope_in_log

AXES = ("problem", "censorship", "policy")
SMALLEST, PAPER = "smallest bound", "paper’s bound"


@dataclass(frozen=True)
class Growth:
    """Mean growth of regret per unit of log T, from round `since` on."""

    since: int
    per_log: float

    def against(self, least: float, imputes: bool = False) -> str:
        """Return the growth in a sentence, next to the least possible."""
        ratio = f", {factor(self.per_log / least)} times the least" if least > 0.0 else ""
        if self.per_log < least and imputes:
            ratio += " (which does not hold for policies that impute missing rewards)"
        elif self.per_log < least:
            ratio += " (which holds as T grows, not yet here)"
        grown = f"it grew like {show(self.per_log)} log T{ratio}"
        return f"Measured from round {self.since:,} on, {grown}."


@dataclass(frozen=True)
class CellBounds:
    """The bounds for one cell of a study, next to its measured regret.

    Attributes
    ----------
    names
        Of the problem, the censorship and the policy.
    measured
        Mean regret at the horizon; None if the cell has not been played.
    bounds
        Upper bounds.
    lower
        Lower bounds.
    growth
        How it grew in the logarithm of the rounds; None if that was not measured.
    imputes
        Whether the policy learned imputed rewards, so that no lower bound needs to hold for it.
    """

    names: tuple[str, str, str]
    measured: float | None
    bounds: RegretBounds
    lower: LowerBounds
    growth: Growth | None
    imputes: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        place = dict(zip(AXES, self.names, strict=True))
        growth = None if self.growth is None else asdict(self.growth)
        below = {"lower": self.lower.to_dict(), "growth": growth}
        return place | {"measured": self.measured} | self.bounds.to_dict() | below

    def __str__(self) -> str:
        rounds = f"regret after {counted('round', self.bounds.horizon)}"
        if self.measured is None:
            second = f"{rounds}: not measured yet"
        else:
            second = f"measured {rounds}: {show(self.measured)}"
        smallest = self.bounds.smallest
        finite = [bound for bound in self.bounds if math.isfinite(bound.value)]
        rows = [
            {
                "bound": bound.name + (" *" if bound is smallest else ""),
                "at most": bound.value,
                "/ measured": bound.value / self.measured if self.measured else None,
                "from": bound.reference or bound.reason,
            }
            for bound in finite
        ]
        lines = [" · ".join(self.names), second, str(table(rows))]
        absent = [bound for bound in self.bounds if bound not in finite]
        for reason in sorted({bound.reason for bound in absent}):
            others = [bound.name for bound in absent if bound.reason == reason]
            lines.append(f"not here ({reason}): {', '.join(others)}")
        lines += self.lower.sentences()
        finite_time = self.lower.finite
        if self.measured is None and finite_time is not None and not finite_time.says_something:
            lines.append(
                f"{show(finite_time.regret)} is the smallest bound above; once the study has been"
                " run, its measured regret takes that place."
            )
        if self.growth is not None and self.lower.asymptotic is not None:
            lines.append(self.growth.against(self.lower.asymptotic.constant, self.imputes))
        return "\n".join(lines)


def study_bounds(study: Study, folder: Path) -> list[CellBounds]:
    """Return the bounds for every cell, with the study's results found in a folder.

    Parameters
    ----------
    study
        The study.
    folder
        Where its results are, if it has been run; nothing else in it is read.
    """
    measured = _measured(study, folder)
    names = [list(study.problems), list(study.censorships), list(study.policies)]
    cells = []
    for position, cell in study.cells():
        regret, potential, growth = measured.get(position, (None, None, None))
        proved = regret_bounds(
            cell.problem, cell.censorship, cell.policy, study.horizon, potential=potential
        )
        first, second, third = (names[axis][position[axis]] for axis in range(3))
        most = proved.smallest.value if regret is None else regret
        seen = cell.censorship.seen_by(cell.policy)
        lower = lower_bounds(cell.problem, seen, study.horizon, most)
        imputes = cell.policy.imputed is not None and not seen.sees_everything
        cells.append(CellBounds((first, second, third), regret, proved, lower, growth, imputes))
    return cells


def _measured(
    study: Study, folder: Path
) -> dict[Position, tuple[float, float | None, Growth | None]]:
    """Return mean regret, mean V_1 of linear bandits and growth in log T of cells played."""
    try:
        if stored_study(folder, study) is None:
            return {}
    except InvalidInput:  # another study's folder
        return {}
    result, means = Result.empty(study), {}
    for position, cell in study.cells():
        if result.read(folder, position, cell):
            regret = result.tracks["regret"][position]
            potential = final_potential(result, position) if study.linear else None
            start, slopes = slope_in_log(study.rounds_recorded, regret)
            means[position] = (
                float(regret[:, -1].mean()),
                None if potential is None else potential.mean,
                Growth(start, float(slopes.mean())) if start < study.horizon else None,
            )
    return means


def in_words(policies: tuple[type, ...]) -> str:
    """Join the names of policies into a phrase.

    >>> from halfseen import GLMUCB, LinUCB, RidgeGLMUCB
    >>> in_words((LinUCB,)), in_words((GLMUCB, RidgeGLMUCB))
    ('the policy LinUCB', 'the policies GLMUCB and RidgeGLMUCB')
    """
    names = " and ".join(policy.__name__ for policy in policies)
    return f"the polic{'y' if len(policies) == 1 else 'ies'} {names}"


def bounds_at_horizon(
    place: Place, horizon: int, potential: float | None = None
) -> RegretBounds | str:
    """Return every bound, or a sentence that says why there is none.

    Parameters
    ----------
    place
        A problem, a censorship and a policy.
    horizon
        The number of rounds.
    potential
        The mean potential of order 1 of a linear bandit, if it was measured.
    """
    wanted = bounded_policies(place.problem)
    if type(place.policy) not in wanted:
        return f"The bounds are proved for {in_words(wanted)}."
    try:
        return regret_bounds(
            place.problem, place.censorship, place.policy, horizon, potential=potential
        )
    except InvalidInput as error:
        return str(error)


def bounds_along(place: Place, horizon: int, rounds: NDArray[np.int64]) -> dict[str, Vector]:
    """Return the smallest bound and the paper's smallest, at each of some rounds.

    Parameters
    ----------
    place
        A problem, a censorship and a policy.
    horizon
        The horizon the policy was tuned to.
    rounds
        Where to evaluate the bounds.

    Returns
    -------
    dict
        Curves by name; empty where no bound is proved.
    """
    if type(place.policy) not in bounded_policies(place.problem):
        return {}
    try:
        tables = regret_bounds_along(
            place.problem, place.censorship, place.policy, horizon, rounds.tolist()
        )
    except InvalidInput:
        return {}
    if not any(bound.applies and bound.paper for bound in tables[0]):
        return {}
    return {
        SMALLEST: np.array([smallest_proved(table).value for table in tables]),
        PAPER: np.array([min(b.value for b in table if b.paper) for table in tables]),
    }


def smallest_proved(table: RegretBounds) -> Bound:
    """Return the smallest bound that needs no measurement."""
    return min((b for b in table if b.applies and b.name != MEASURED), key=lambda b: b.value)
