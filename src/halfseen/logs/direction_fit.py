"""A falling staircase along a direction, and its consequences."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from halfseen.censorship import MultiThreshold
from halfseen.checks import Vector
from halfseen.display import Shown, Tabular
from halfseen.equality import ByValue
from halfseen.logs.isotonic import Curve
from halfseen.phrases import counted
from halfseen.tables import Table, listed, percent, table
from halfseen.theory import information_path, worst_case_dimension, worst_case_potential

if TYPE_CHECKING:
    import altair as alt

UNLIKELY = 0.01


@dataclass(frozen=True, eq=False, repr=False)
class Intervals(Shown, ByValue):
    """95% intervals from refitting resampled rows with the same number of regions.

    Attributes
    ----------
    angle_degrees
        The angle, in degrees, from the fitted direction within which 95% of refits lie, between
        directions per standard deviation of the features.
    thresholds, rates
        Lower and upper ends, one column per threshold or region.
    """

    angle_degrees: float
    thresholds: Vector
    rates: Vector


@dataclass(frozen=True, eq=False, repr=False)
class DirectionFit(Tabular, ByValue):
    """The probability of being seen as a falling staircase along a direction.

    Attributes
    ----------
    direction
        A unit vector u, along which feedback becomes rarer.
    thresholds
        Values of <x, u> at which the probability steps down.
    rates
        The share seen in each of the regions between them.
    rows, seen
        Rows, and rewards seen, in each region.
    curve
        The isotonic regression along u.
    criterion
        BIC of 1, 2, ... regions; the smallest decides.
    misfit
        The chance of deviations this large if the probability fell along u and depended on nothing
        else; small values say otherwise.
    scale
        The length of the longest row: `censorship` is for rows divided by it.
    intervals
        Intervals from resampling, if asked for.
    drawn_from
        Number of rows it was sampled from; None if all were used.
    names
        Names of the features.
    standardized
        The direction per standard deviation of each feature, as a unit vector: the weights to
        compare with each other.
    condition
        The condition number of the standardised features.
    collinear
        Nearly collinear features, whose weights cannot be separated.
    """

    _frame = "regions"

    direction: Vector
    thresholds: Vector
    rates: Vector
    rows: NDArray[np.int64]
    seen: NDArray[np.int64]
    curve: Curve
    criterion: Vector
    misfit: float
    scale: float
    intervals: Intervals | None = None
    drawn_from: int | None = None
    names: tuple[str, ...] = ()
    standardized: Vector = field(default_factory=lambda: np.empty(0))
    condition: float = 1.0
    collinear: tuple[str, ...] = ()

    @property
    def weights(self) -> Table:
        """One row per feature: its weight per standard deviation, and in its own unit."""
        rows = zip(self.names, self.standardized.tolist(), self.direction.tolist(), strict=True)
        return Table(("feature", "standardised weight", "raw weight"), tuple(rows))

    @property
    def decisions(self) -> int:
        """How many decisions the log holds that it was fitted to."""
        return self.drawn_from or int(self.rows.sum())

    @property
    def censorship(self) -> MultiThreshold:
        """The staircase as a censorship of rows divided by `scale`, to use in a `Study`.

        A region in which nothing was seen gets the rate of half a reward.
        """
        floor = 0.5 / (self.rows + 1.0)
        observe = np.minimum.accumulate(np.where(self.seen > 0, self.rates, floor))
        inside = np.clip(self.thresholds / self.scale, -1 + 1e-12, 1 - 1e-12)
        return MultiThreshold(np.arcsin(inside).tolist(), observe.tolist(), self.direction.tolist())

    def probabilities(self, rows: Any) -> Vector:
        """Return the probability of being seen of each row of features."""
        along = np.asarray(rows, dtype=float) @ self.direction
        return self.rates[np.searchsorted(self.thresholds, along, side="right")]

    @property
    def dimensions(self) -> dict[str, float]:
        """How hard a linear bandit with this censorship is: its effective dimensions by name."""
        model = self.censorship
        paper, worst = information_path(model).effective_dimension, worst_case_dimension(model)
        seen = float(len(self.direction))
        return {"everything seen": seen, "information path": paper, "worst case": worst}

    def potential(self, horizon: float) -> float:
        """Return J*(T), the largest continuous potential of T rounds, of unit regularization."""
        return worst_case_potential(self.censorship, horizon=horizon).value

    @property
    def regions(self) -> Table:
        """One row per region."""
        edges = [None, *self.thresholds.tolist(), None]
        return table(
            [
                {
                    "from": edges[j],
                    "to": edges[j + 1],
                    "rows": int(self.rows[j]),
                    "seen": int(self.seen[j]),
                    "rate": float(self.rates[j]),
                }
                | ({} if self.intervals is None else self._ends(j))
                for j in range(len(self.rates))
            ]
        )

    def _ends(self, region: int) -> dict[str, float]:
        assert self.intervals is not None
        low, high = self.intervals.rates[:, region]
        return {"low": float(low), "high": float(high)}

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "direction": self.direction.tolist(),
            "weights": self.weights.records(),
            "condition": self.condition,
            "collinear": list(self.collinear),
            "thresholds": self.thresholds.tolist(),
            "regions": self.regions.records(),
            "criterion": self.criterion.tolist(),
            "misfit": self.misfit,
            "scale": self.scale,
            "dimensions": self.dimensions,
            "potential": self.potential(self.decisions),
            "rows": int(self.rows.sum()),
            "drawn_from": self.drawn_from,
            "angle_degrees": None if self.intervals is None else self.intervals.angle_degrees,
        }

    @property
    def findings(self) -> list[str]:
        """Findings about the fit, in sentences."""
        chance = f"(chance of deviations this large: {self.misfit:.2g})"
        words = []
        if len(self.rates) == 1:
            words.append("Feedback does not fall along any direction of the features.")
            if self.misfit < UNLIKELY:
                words.append(f"It does depend on them in another way {chance}.")
        elif self.misfit < UNLIKELY:
            words.append(f"The share seen does not depend on one direction only {chance}.")
        else:
            words.append(f"There is no evidence that more than this direction matters {chance}.")
        if self.collinear and len(self.rates) > 1:
            words.append(
                f"{listed(self.collinear)} are nearly collinear (condition number"
                f" {self.condition:,.0f}): only their joint effect is determined, not their"
                " weights."
            )
        if self.drawn_from is not None:
            words.append(
                f"Fitted to {int(self.rows.sum()):,} rows drawn at random from"
                f" {self.drawn_from:,}; the intervals allow for that."
            )
        return words

    @property
    def hardness(self) -> dict[str, float]:
        """The effective dimensions by their names in reports."""
        titles = {
            "everything seen": "if everything were seen",
            "information path": "with this feedback, if actions follow the information path",
            "worst case": "with this feedback, in the worst case",
        }
        return {titles[name]: value for name, value in self.dimensions.items()}

    def plot(self) -> alt.Chart:
        """Return a chart of the share seen along the direction."""
        from halfseen.report.audit.charts import direction_chart
        from halfseen.report.core.style import chart_of

        return chart_of(direction_chart(self, "the features"))

    def _headline(self) -> str:
        if len(self.rates) == 1:
            return self.findings[0]
        first, last = percent(float(self.rates[0])), percent(float(self.rates[-1]))
        steps = counted("step", len(self.thresholds))
        return f"feedback falls in {steps} from {first} to {last} along a direction"

    def _details(self) -> list[str | Table]:
        weights = [self.weights] if len(self.rates) > 1 else []
        return [*weights, self.regions, " ".join(self.findings)]

    def __str__(self) -> str:
        first = []
        if len(self.rates) > 1:
            first = [str(self.weights)]
            if self.intervals is not None:
                within = f"{self.intervals.angle_degrees:.2g}°"
                first.append(f"The standardised weights are within {within} of the truth (95%).")
        hard = [f"Effective dimension {name}: {value:.4g}" for name, value in self.hardness.items()]
        last = "It assumes that what goes missing does not depend on the reward."
        return "\n".join([*first, "", str(self.regions), "", *self.findings, *hard, last]).lstrip()
