r"""The information path: the design obtained by always maximising the gain per observation.

The state is the design W, with eigenvalue x on the d - 1 directions across that of the censorship
and y along it. The path always plays an action that maximises :math:`\|a\|^2_{W^{-1}}/p(a)`. Its
growth in log T is what the paper calls the effective dimension.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from halfseen import checks
from halfseen.censorship import LinkModel, Logistic, MultiThreshold, Population, Uniform
from halfseen.checks import Vector
from halfseen.display import Shown, Tabular
from halfseen.errors import InvalidInput
from halfseen.phrases import counted
from halfseen.tables import Table, show, table
from halfseen.theory.linear.kept_regions import Region, at_angle, regions_that_matter
from halfseen.theory.linear.path_rules import Leg, compare, walk
from halfseen.theory.linear.path_sentences import path_in_words, reasons
from halfseen.theory.linear.reachability import Reachability, smallest_bi_region_dimension
from halfseen.theory.linear.stepped import as_steps

if TYPE_CHECKING:
    import altair as alt

SINGLE, BOTH = "single region", "bi-region"


@dataclass(frozen=True, repr=False)
class Phase(Shown):
    """A phase of the information path, in which the same regions are played.

    Attributes
    ----------
    start, end
        Start and end time; the last phase ends at infinity.
    regions
        Number of the region played, or of the two regions of a bi-region phase.
    x, y
        The design at the start, across and along the direction.
    reason
        Why this phase begins here and, for the last one, why it does not end.
    """

    start: float
    end: float
    regions: tuple[int, ...]
    x: float
    y: float
    reason: str

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON; None for an infinite end."""
        return {
            "start": self.start,
            "end": self.end if math.isfinite(self.end) else None,
            "regions": list(self.regions),
            "x": self.x,
            "y": self.y,
            "reason": self.reason,
        }


@dataclass(frozen=True, repr=False)
class InformationPath(Tabular):
    """The information path of a censorship; returned by `information_path`.

    Attributes
    ----------
    dimension, regularization
        Number d of coordinates of an action, and the paper's lambda.
    effective_dimension
        Growth of the potential in log T.
    regime
        ``"single region"`` or ``"bi-region"``: what is eventually played.
    regions
        Numbers of the regions, in the order visited.
    switch_times
        Times at which each region after the first is first played.
    designs
        The design (x, y) at each switch.
    shares
        Limiting share of time, one per region of the censorship.
    steady_offset
        lambda*, if the design is eventually (T + lambda*) times a fixed one; otherwise None.
    edge
        Which end of a region is played: ``"lower"`` or ``"upper"``, counted from the equator;
        ``"isotropic"`` if the least observed region explores all directions evenly.
    numbers, angles_radians, observe
        Number, angle from the equator in radians, and probability of each region that can be worth
        playing, the least observed last.
    error
        The largest difference in probability from the given censorship; above 0 for smooth ones.
    smallest_observe
        The smallest probability of the given censorship.

    Examples
    --------
    >>> path = information_path(MultiThreshold([math.pi / 3], [1.0, 0.75], [0, 0, 1]))
    >>> print(str(path).splitlines()[0])
    dimension 3, regularization 1
    >>> path.to_dict()["regime"], path.worst_case_dimension
    ('bi-region', 4.0)
    """

    dimension: int
    regularization: float
    effective_dimension: float
    regime: str
    regions: tuple[int, ...]
    switch_times: tuple[float, ...]
    designs: tuple[tuple[float, float], ...]
    shares: tuple[float, ...]
    steady_offset: float | None
    edge: str
    numbers: tuple[int, ...]
    angles_radians: tuple[float, ...]
    observe: tuple[float, ...]
    error: float
    smallest_observe: float
    _legs: tuple[Leg, ...] = field(repr=False)

    def potential(self, horizon: Any) -> Any:
        """Return the potential J accumulated from time 0 to `horizon`, a number or an array."""
        times, place, leg = self._at("horizon", horizon)
        start, x, y, growth_x, growth_y, weight, before = leg[place].T
        across = (self.dimension - 1) * np.log1p(growth_x / x * (times - start))
        value = before + weight * (across + np.log1p(growth_y / y * (times - start)))
        return float(value) if value.ndim == 0 else value

    def design(self, time: Any) -> tuple[Any, Any]:
        """Return the design (x, y), across and along, at a time, a number or an array."""
        times, place, leg = self._at("time", time)
        start, x, y, growth_x, growth_y, *_ = leg[place].T
        both = x + growth_x * (times - start), y + growth_y * (times - start)
        return (float(both[0]), float(both[1])) if times.ndim == 0 else both

    def region_at(self, time: float) -> tuple[int, ...]:
        """Return the region played at a time, or the two that are played together."""
        moment = checks.number("time", time, at_least=0.0, fix="Give a number of rounds.")
        return self._legs[int(self._at("time", moment)[1])].regions

    @property
    def worst_case_dimension(self) -> float:
        """The dimension divided by the smallest probability of a region, d / p_min."""
        return self.dimension / self.observe[-1]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON; None for a phase without end."""
        return {
            "dimension": self.dimension,
            "regularization": self.regularization,
            "regime": self.regime,
            "effective_dimension": self.effective_dimension,
            "worst_case_dimension": self.worst_case_dimension,
            "ratio": self.effective_dimension / self.worst_case_dimension,
            "regions": list(self.regions),
            "shares": list(self.shares),
            "steady_offset": self.steady_offset,
            "error": self.error,
            "edge": self.edge,
            "numbers": list(self.numbers),
            "angles_radians": list(self.angles_radians),
            "observe": list(self.observe),
            "phases": [phase.to_dict() for phase in self.phases],
            "reachability": [pair._asdict() for pair in self.reachability],
        }

    def plot(self) -> alt.HConcatChart:
        """Return a chart of the design across and along the direction over time."""
        from halfseen.report.theory.path_charts import path_chart

        chart: alt.HConcatChart = path_chart(self, width=330)
        return chart

    def _headline(self) -> str:
        size, worst = show(self.effective_dimension), show(self.worst_case_dimension)
        return (
            f"dimension {self.dimension}, {self.regime}, {counted('phase', len(self.phases))};"
            f" effective dimension {size}, in the worst case {worst}"
        )

    def _details(self) -> list[str | Table]:
        return [self.table()]

    def __str__(self) -> str:
        return path_in_words(self)

    @cached_property
    def phases(self) -> tuple[Phase, ...]:
        """The phases of the path, each with its reason."""
        ends = [leg.start for leg in self._legs[1:]] + [math.inf]
        why = reasons(self._legs, self._kept, self.dimension, self.shares)
        return tuple(
            Phase(leg.start, end, leg.regions, leg.x, leg.y, reason)
            for leg, end, reason in zip(self._legs, ends, why, strict=True)
        )

    def table(self) -> Table:
        """Return the phases as a table."""
        return table(
            [
                {
                    "from": phase.start,
                    "to": phase.end if phase.end < math.inf else None,
                    "region": " and ".join(map(str, phase.regions)),
                    "across": phase.x,
                    "along": phase.y,
                    "why": phase.reason,
                }
                for phase in self.phases
            ]
        )

    def reachability_table(self) -> Table:
        """Return `reachability` as a table."""
        return table(
            [
                {
                    "base": pair.base,
                    "region": pair.region,
                    "p ratio": pair.ratio,
                    "r*": pair.r_star,
                    "r-dagger": pair.r_dagger,
                    "reachable": "yes" if pair.reachable else "no",
                    "dual reachable": "yes" if pair.dual_reachable else "no",
                    "smallest d_eff * p": pair.smallest_dimension,
                }
                for pair in self.reachability
            ]
        )

    @cached_property
    def reachability(self) -> tuple[Reachability, ...]:
        """Comparison of each region worth playing with each one that is observed less often.

        Empty in one dimension, where there are no directions across.
        """
        kept = self._kept if self.dimension > 1 else []
        return tuple(
            _reachability(region, base, self.dimension)
            for place, base in enumerate(kept)
            for region in kept[:place]
        )

    @property
    def _kept(self) -> list[Region]:
        return [*map(at_angle, self.numbers, self.angles_radians, self.observe)]

    @cached_property
    def _columns(self) -> Vector:
        """One row per leg: start, x, y, their growth rates, the weight, the potential before it."""
        rows = np.array([(leg.start, *leg[2:], 0.0) for leg in self._legs])
        growth = np.diff(np.log(rows[:, 1:3]), axis=0) @ [self.dimension - 1.0, 1.0]
        rows[1:, -1] = np.cumsum(rows[:-1, 5] * growth)
        return rows

    def _at(self, name: str, time: Any) -> tuple[Vector, Any, Vector]:
        try:
            times = np.asarray(time, dtype=np.float64)
        except (TypeError, ValueError):
            times = np.asarray(np.nan)
        if not (np.isfinite(times) & (times >= 0.0)).all():
            raise InvalidInput(
                name, "must be finite and at least 0", time, "Give a number of rounds."
            )
        return times, np.searchsorted(self._columns[:, 0], times, side="right") - 1, self._columns


def information_path(
    censorship: MultiThreshold | Uniform | Population | Logistic | LinkModel,
    dimension: int | None = None,
    *,
    regularization: float = 1.0,
    regions: int = 8,
) -> InformationPath:
    r"""Return the path of designs that always gains the most information per observation.

    .. math:: \frac{dW}{dt}=p(a)\,aa',\qquad a\in\operatorname{argmax}
              \frac{\|a\|^2_{W^{-1}}}{p(a)},
              \qquad J(T)=\int_0^T\|a\|^2_{W^{-1}}dt\sim d_{\mathrm{eff}}\log T

    Parameters
    ----------
    censorship
        A `MultiThreshold`, `Uniform`, `Population`, `Logistic` or `LinkModel`.
    dimension
        Number d of coordinates of an action; by default the length of the censorship's direction.
    regularization
        The paper's lambda.
    regions
        For a smooth censorship, the number of steps that approximate it.

    Returns
    -------
    InformationPath
        Effective dimension, regime, order of regions, switches and the potential.

    Notes
    -----
    The paper presents this path as the one with the largest potential. It is not: the largest gain
    per *observation* is not the largest gain per round, and the worst case grows with d / p_min.
    It is true that the effective dimension is :math:`d\operatorname{Tr}M^\star` with
    :math:`M^\star` the D-optimal design over :math:`aa'/p(a)`.

    The probabilities may be in any order; only the smaller one of an action and its opposite
    matters. The paper assumes that p is non-increasing along the direction, and its algorithm,
    which starts at the last region and plays lower ends, is correct only for such p.

    Ratios of probabilities within 1e-12 of a threshold are treated as equal to it, where the result
    is the same from both sides. If the path reaches two regions at once, the most censored comes
    first, as in the paper. The effective dimension does not depend on that choice; the potential
    does, by a constant, since the same observations then take a different time.

    All of this assumes that whether a reward is observed does not depend on the reward.

    References
    ----------
    Guinet, Amin, Jaillet (2022), section 4.2.

    Examples
    --------
    >>> path = information_path(MultiThreshold([math.pi / 3], [1.0, 0.75], [0, 0, 1]))
    >>> path.regime, path.regions, round(path.effective_dimension, 9)
    ('bi-region', (1, 0), 3.5)
    >>> round(path.switch_times[0], 9), round(path.potential(1000.0), 6)
    (1.185185185, 19.787571)
    """
    steps = as_steps(censorship, dimension, regions)
    d = steps.dimension
    lam = checks.number("regularization", regularization, above=0.0)
    kept = regions_that_matter(steps.model.threshold_radians, steps.model.observe, d)
    legs, shares = walk(kept, d, lam)
    last = legs[-1]
    proportional = len(last.regions) == 2 or last.growth_x == last.growth_y
    return InformationPath(
        dimension=d,
        regularization=lam,
        effective_dimension=d * last.weight,
        regime=BOTH if len(last.regions) == 2 else SINGLE,
        regions=legs[0].regions + tuple(leg.regions[-1] for leg in legs[1:]),
        switch_times=tuple(leg.start for leg in legs[1:]),
        designs=tuple((leg.x, leg.y) for leg in legs[1:]),
        shares=tuple(shares.get(j, 0.0) for j in range(len(steps.model.observe))),
        steady_offset=last.x / last.growth_x - last.start if proportional else None,
        edge=kept.edge,
        numbers=tuple(region.number for region in kept.regions),
        angles_radians=tuple(region.angle for region in kept.regions),
        observe=tuple(region.p for region in kept.regions),
        error=steps.error,
        smallest_observe=float(getattr(censorship, "observe_range", steps.model.observe_range)[0]),
        _legs=tuple(legs),
    )


def _reachability(region: Region, base: Region, d: int) -> Reachability:
    step = compare(region, base, d)
    return Reachability(
        base=base.number,
        region=region.number,
        ratio=step.r,
        r_star=step.r_star,
        r_dagger=step.r_dagger,
        u=step.u,
        l=step.l,
        reachable=step.reachable,
        dual_reachable=step.dual_reachable,
        smallest_dimension=smallest_bi_region_dimension(step.u, step.l, d).dimension,
    )
