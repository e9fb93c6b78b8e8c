"""The charts of a study: one definition each, for the page, for SVG and for PNG.

A chart never holds replications, only means and intervals, so its size does not depend on how
long or how often a study was played. Names given by the user are values in the data, never parts
of an expression.
"""

from __future__ import annotations

from functools import partial

from halfseen.report.core.drawing import attempt
from halfseen.report.core.panels import Axes, Figure, Panels, Rows
from halfseen.report.core.scales import axis, decades, rounds_axis
from halfseen.report.study.bounds import PAPER, bounds_along
from halfseen.report.study.corridor import corridor_figures
from halfseen.report.study.curves import bound_rows, curve_rows, hints
from halfseen.report.study.linear_charts import direction_figures, eigenvalue_figures
from halfseen.report.study.linear_charts import potential_figures as linear_potential_figures
from halfseen.report.study.measures import (
    drawn_checkpoints,
    places,
)
from halfseen.report.study.play_counts import arm_figures, arm_rows
from halfseen.studies.result import Result
from halfseen.studies.student_intervals import mean_and_half
from halfseen.theory.along_a_run import potential_bound_along

__all__ = ["arm_rows", "figures", "potential_rows", "regret_rows"]

FITS = 300.0  # times the largest regret: a bound beyond that would flatten all curves
OFFSETS = 3  # values of lambda whose bounds are drawn


def figures(result: Result, problem: int) -> list[Figure]:
    """Return the charts of one problem of a study, the most telling first."""
    arms = {
        "regret": ("Regret", regret_figures),
        "corridor": ("Between lower and upper bounds", corridor_figures),
        "arms": ("Feedback seen, arm by arm", arm_figures),
        "potential": ("Potential", potential_figures),
    }
    linear = {
        "regret": ("Regret", regret_figures),
        "direction": ("What is seen, along a direction", direction_figures),
        "actions": ("Feedback seen, action by action", arm_figures),
        "potential": ("Potential against log round", linear_potential_figures),
        "eigenvalues": ("Growth of the observed design", eigenvalue_figures),
    }
    drawn: list[Figure] = []
    for key, (title, make) in (linear if result.study.linear else arms).items():
        drawn += attempt(f"problem-{problem + 1}-{key}", title, partial(make, result, problem))
    return drawn


def regret_figures(result: Result, problem: int) -> list[Figure]:
    """Return regret against rounds on plain scales and, with bounds, on logarithmic ones."""
    import altair as alt

    study, panels = result.study, Panels(result.study)
    name = list(study.problems)[problem]
    rows, bounded = regret_rows(result, problem)
    key, words = f"problem-{problem + 1}-regret", "regret (reward lost so far)"
    note = (
        "Reward lost so far, averaged over replications; the band is the 95% interval of that"
        " average. Lower is better, and a curve that flattens has learned."
    )
    measured = [row for row in rows if row["kind"] == "policy"]
    most = max(row["mean"] + row["half"] for row in measured)
    scale = alt.Scale(domain=[0, 1.05 * most or 1.0], nice=False)
    plain = Axes(rounds_axis(study.horizon, log=False), words, {"axis": axis(), "scale": scale})
    layers = [panels.band(plain), *panels.curves(plain, hints("regret"))]
    drawn = [panels.draw(key, ("Regret", note, name), layers, rows, key)]
    positive = [row["mean"] for row in measured if row["mean"] > 0]
    if not positive or study.horizon == 1:
        return drawn

    proved = [row["mean"] for row in rows if row["kind"] == "bound"]
    top = 3.0 * max([most, *proved])
    low = max(min(positive), top / 1e6)
    scale = alt.Scale(type="log", domain=[low, top], nice=False)
    log = Axes(
        rounds_axis(study.horizon, log=True),
        words,
        {"scale": scale, "axis": axis(decades(low, top))},
        foot=low,
        log=True,
    )
    layers = [panels.band(log), *panels.bounds(log), *panels.curves(log, hints("regret"))]
    title = "Regret on logarithmic scales"
    note = "The same curves where early rounds and small differences show."
    if proved:
        title += ", with proved bounds"
        note += (
            f" Dashed: what is proved for {bounded}, the smallest of all bounds and the smallest of"
            " the paper’s, at every round, where they fit. They bound the expected regret in the"
            " worst case, and actual regret is usually far below."
        )
    drawn.append(panels.draw(f"{key}-log", (title, note, name), layers, rows, key))
    return drawn


def regret_rows(result: Result, problem: int) -> tuple[Rows, str | None]:
    """Return mean regret and bounds at the checkpoints, and the policy the bounds are for."""
    study = result.study
    chosen = drawn_checkpoints(study)
    rounds = study.rounds_recorded[chosen]
    rows: Rows = []
    bounded: str | None = None
    final = result.tracks["regret"][problem][..., -1].mean(axis=-1, dtype=float).max()
    for place in places(study, problem):
        mean, half = mean_and_half(result.tracks["regret"][place.position][:, chosen])
        rows += curve_rows(place, rounds, mean, half)
        policy = place.names[2]
        if bounded in (None, policy):
            curves = bounds_along(place, study.horizon, rounds)
            bounded = policy if curves else bounded
            for label, values in curves.items():
                if values[-1] > FITS * final:
                    continue
                told = -1 if label == PAPER else 3 * (len(rounds) - 1) // 5
                rows += bound_rows(place, rounds, label, values, told)
    return rows, bounded


def potential_figures(result: Result, problem: int) -> list[Figure]:
    """Return the measured potentials against their exact bound, one chart per order."""
    import altair as alt

    study, panels = result.study, Panels(result.study)
    drawn = []
    for order, alpha in enumerate(study.alphas):
        rows = potential_rows(result, problem, order)
        top = 1.15 * max(row["mean"] for row in rows)  # room for the label above the bound
        axes = Axes(
            rounds_axis(study.horizon, log=False),
            f"potential of order {alpha:g}",
            {"axis": axis(), "scale": alt.Scale(domain=[0, top], nice=False)},
        )
        key = f"problem-{problem + 1}-potential-{order + 1}"
        note = (
            f"The sum over rounds of 1 / (times the arm played had been seen + λ)^{alpha:g}: the"
            " cumulative uncertainty of the arms played. Dashed: the bound no policy exceeds on"
            " average, exact for every number of rounds."
        )
        titles = (f"Potential of order {alpha:g}", note, list(study.problems)[problem])
        layers = [*panels.bounds(axes), *panels.curves(axes, hints("potential"))]
        drawn.append(panels.draw(key, titles, layers, rows, key))
    return drawn


def potential_rows(result: Result, problem: int, order: int) -> Rows:
    """Return mean potential and its exact bound at the checkpoints."""
    study = result.study
    chosen = drawn_checkpoints(study)
    rounds = study.rounds_recorded[chosen]
    offsets = dict.fromkeys(float(policy.regularization) for policy in study.policies.values())
    drawn = list(offsets)[:OFFSETS]
    rows: Rows = []
    done = set()
    for place in places(study, problem):
        track = result.tracks["potential"][place.position][:, chosen, order]
        rows += curve_rows(place, rounds, *mean_and_half(track))
        offset = float(place.policy.regularization)
        if offset in drawn and (place.names[1], offset) not in done:
            done.add((place.names[1], offset))
            label = "bound" if len(offsets) == 1 else f"bound, λ = {offset:g}"
            values = potential_bound_along(*place.triple, study.alphas[order], rounds)
            rows += bound_rows(place, rounds, label, values)
    return rows
