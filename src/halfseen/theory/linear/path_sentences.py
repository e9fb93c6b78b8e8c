"""Sentences that explain the phases of the information path."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from halfseen.tables import Table, show
from halfseen.theory.linear.kept_regions import Region
from halfseen.theory.linear.path_rules import Leg, compare

if TYPE_CHECKING:
    from halfseen.theory.linear.path import InformationPath

WIDTH = 88  # characters of a line of text


def path_in_words(path: InformationPath) -> str:
    """Return the regions, the dimensions and every phase with its reason, as lines of text."""
    angles = ", ".join(f"{math.degrees(angle):.4g}°" for angle in path.angles_radians)
    played = " and ".join(map(str, path.phases[-1].regions))
    lines = [
        f"dimension {path.dimension}, regularization {show(path.regularization)}",
        f"regions {', '.join(map(str, path.numbers))} at {angles} from the equator ({path.edge})",
        f"seen with {', '.join(map(show, path.observe))}",
    ]
    if path.error:
        lines += [
            f"a step approximation of a smooth model, off by at most {show(path.error)};",
            f"its own d / p_min is {show(path.dimension / path.smallest_observe)}",
        ]
    phases = path.table()
    lines += [
        f"\nin the end           {path.regime} ({played})",
        f"effective dimension  {show(path.effective_dimension)}   (the paper's: this path)",
        f"d / p_min            {show(path.worst_case_dimension)}   (the worst case)\n",
        str(Table(phases.columns[:-1], tuple(row[:-1] for row in phases.rows))),
    ]
    for number, phase in enumerate(path.phases, 1):
        lines.append(textwrap.fill(f"{number}. {phase.reason}", WIDTH, subsequent_indent="   "))
    if path.reachability:
        lines.append(f"\n{path.reachability_table()}")
    return "\n".join(lines)


def reasons(
    legs: Sequence[Leg], kept: Sequence[Region], d: int, shares: Sequence[float]
) -> list[str]:
    """Return one reason per leg: why it begins and, for the last one, why it does not end."""
    by_number = {region.number: region for region in kept}
    visited = [by_number[leg.regions[-1]] for leg in legs]
    texts = [_first(visited[0])]
    for leg, before, region in zip(legs[1:], visited, visited[1:], strict=False):
        texts.append(_switch(leg, before, region, d))
    if legs[-1].growth_x == legs[-1].growth_y:
        texts[-1] += _evenly(legs[-1].regions)
    elif len(legs[-1].regions) == 2:
        texts[-1] += _both(visited[-2], visited[-1], d, shares)
    else:
        texts[-1] += _stays(visited[-1], kept, d)
    return texts


def _first(region: Region) -> str:
    return (
        f"All directions start equally known, so region {region.number}, the least observed"
        f" (p = {show(region.p)}), gains most per observation."
    )


def _switch(leg: Leg, before: Region, region: Region, d: int) -> str:
    step = compare(region, before, d)
    return (
        f"With y/x at {show(leg.y / leg.x)}, region {region.number} gains as much per observation"
        f" as region {before.number}. It is reached because p_{region.number}/p_{before.number} ="
        f" {show(step.r)} is below r* = {show(step.r_star)}."
    )


def _both(base: Region, region: Region, d: int, shares: Sequence[float]) -> str:
    step = compare(region, base, d)
    return (
        f" Both stay, because {show(step.r)} is also above r-dagger = {show(step.r_dagger)}:"
        f" region {region.number} pulls y/x back. Region {base.number} takes"
        f" {shares[base.number]:.1%} of the time, region {region.number}"
        f" {shares[region.number]:.1%}."
    )


def _evenly(played: Sequence[int]) -> str:
    if len(played) == 2:
        return (
            f" Together with region {played[0]}, observed equally often, it can keep all directions"
            " equally known."
        )
    return " It stays, because alone it can keep all directions equally known."


def _stays(region: Region, kept: Sequence[Region], d: int) -> str:
    others = [compare(other, region, d) for other in kept if other.p > region.p]
    if not others:
        return " It stays, because no region beyond it is observed more often."
    ratios = ", ".join(
        f"p_{step.region.number}/p_{region.number} = {show(step.r)}, not below {show(step.r_star)}"
        for step in others
    )
    return f" It stays, because no other region is reachable: {ratios}."
