"""Thresholds: censorship that acts along a direction, and the information path."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from halfseen import theory
from halfseen.censorship import MultiThreshold
from halfseen.explorer import chart_parts as parts
from halfseen.explorer.controls import Control
from halfseen.explorer.view import REPLICATIONS, SEED, Picture, Rows, View, listed
from halfseen.tables import show

POINTS = 81
HORIZONS = 9  # at which potentials are drawn
SLICES = 60  # of the ball's picture, per region
REGIONS = (2, 5)
SMALLEST = 0.02
SHADE = {
    "field": "p",
    "type": "quantitative",
    "scale": {"domain": [0, 1], "scheme": "blues"},
    "legend": {"title": "p", "format": "%", "gradientLength": 160},
}
OVERLAP = 0.006  # of slices, so that no gap shows between them


class ThresholdView(View):
    """Angles and probabilities of a multi-threshold model."""

    name: ClassVar[str] = "thresholds"
    title: ClassVar[str] = "Thresholds: actions far along one direction are seen less"
    lead: ClassVar[str] = (
        "Actions are points of the unit ball; how often one is seen depends on its angle above"
        " the equator. The information path always plays the action with the largest gain per"
        " observation, and its growth is the effective dimension of the paper."
    )
    controls: ClassVar[tuple[Control, ...]] = (
        Control(
            "degrees",
            "Angle of the threshold, degrees",
            1.0,
            89.0,
            1.0,
            (60.0,),
            entries=(1, 4),
            rises=True,
        ),
        Control(
            "observe",
            "Probability of being seen, by region from below up",
            SMALLEST,
            1.0,
            0.01,
            (1.0, 0.75),
            entries=REGIONS,
            follows=("degrees", 1),
            first=0,
        ),
        Control("dimension", "Dimension d", 2, 10, 1, 3, whole=True),
        Control("regularization", "Ridge, lambda", 0.1, 100.0, 0.1, 1.0, log=True),
    )

    @property
    def model(self) -> MultiThreshold:
        """The censorship."""
        direction = [0.0] * (self.values["dimension"] - 1) + [1.0]
        angles = [math.radians(angle) for angle in self.values["degrees"]]
        return MultiThreshold(angles, list(self.values["observe"]), direction)

    @property
    def path(self) -> theory.InformationPath:
        """Its information path."""
        ridge = self.values["regularization"]
        return theory.information_path(self.model, regularization=ridge)

    def answers(self) -> list[str]:
        """Return the effective dimension, the worst case and the reason for each switch."""
        path = self.path
        size, worst = path.effective_dimension, path.worst_case_dimension
        return [
            f"The effective dimension of the path is {show(size)}; with complete feedback it would"
            f" be {path.dimension}. The true worst case, d / p_min, is {show(worst)}.",
            f"In the end the path plays a {path.regime}:"
            f" {' and '.join(map(str, path.phases[-1].regions))}.",
            *(phase.reason for phase in path.phases),
        ]

    def pictures(self) -> list[Picture]:
        """Return the regions, the path, its potential and the dimension against p."""
        ball = self._sphere() if self.values["dimension"] == 3 else self._disc()
        return [ball, self._design(), self._potential(), self._dimension()]

    def _disc(self) -> Picture:
        edges, chances = self.model.along_direction(2)
        rows: Rows = []
        for region, p in enumerate(chances[::2].tolist()):
            low, high = np.arcsin(edges[2 * region : 2 * region + 2])
            heights = np.sin(np.linspace(low, high, SLICES))
            half = np.sqrt(1.0 - (0.5 * (heights[1:] + heights[:-1])) ** 2)
            tops = np.minimum(heights[1:] + OVERLAP, 1.0)
            slices = zip(heights[:-1].tolist(), tops.tolist(), half.tolist(), strict=True)
            rows += [
                {"region": region, "along": h, "up_to": top, "left": -x, "right": x, "p": p}
                for h, top, x in slices
            ]
        look = {"domain": [-1, 1], "nice": False}
        area = {
            "mark": {"type": "rect", "strokeWidth": 0},
            "encoding": {
                "y": parts.axis("along", "along the direction", scale=look),
                "y2": {"field": "up_to"},
                "x": parts.axis("left", "across it", scale={"domain": [-1, 1], "nice": False}),
                "x2": {"field": "right"},
                "color": SHADE,
                "tooltip": parts.told(("region", "region"), ("p", "seen with probability")),
            },
        }
        return _globe([area], rows)

    def _sphere(self) -> Picture:
        """Return the sphere seen from slightly above, each region a cap over the one below."""
        caps = [
            {"type": "Polygon", "coordinates": [[[-turn, angle] for turn in range(0, 361, 5)]]}
            for angle in self.values["degrees"]
        ]
        rows: Rows = [
            {"type": "Feature", "geometry": shape, "region": region, "p": p}
            for region, (shape, p) in enumerate(
                zip([{"type": "Sphere"}, *caps], self.values["observe"], strict=True)
            )
        ]
        look = {"type": "orthographic", "rotate": [-20, -25, 0]}
        regions = {
            "mark": {"type": "geoshape", "stroke": parts.MUTED, "strokeWidth": 1},
            "projection": look,
            "encoding": {
                "color": SHADE,
                "tooltip": parts.told(("region", "region"), ("p", "seen with probability")),
            },
        }
        lines = {
            "data": {"graticule": {"step": [30, 15]}},
            "mark": {
                "type": "geoshape",
                "filled": False,
                "stroke": parts.MUTED,
                "opacity": 0.35,
                "aria": False,
            },
            "projection": look,
        }
        return _globe([regions, lines], rows)

    def _times(self) -> np.ndarray:
        path = self.path
        kinks = [t for t in path.switch_times if 0.0 < t < 1e12]
        pace = path.regularization / path.observe[-1]
        first = min([pace, *kinks]) / 30.0
        last = max([30.0 * pace, *kinks]) * 30.0
        return np.unique(np.concatenate([np.geomspace(first, last, POINTS), kinks]))

    def _design(self) -> Picture:
        path, times = self.path, self._times()
        across, along = path.design(times)
        names = ["across the direction", "along it"]
        rows: Rows = [
            {"kind": "line", "which": which, "time": float(t), "value": float(v)}
            for which, values in zip(names, (across, along), strict=True)
            for t, v in zip(times, values, strict=True)
        ]
        for phase in path.phases:
            start, end = max(phase.start, float(times[0])), min(phase.end, float(times[-1]))
            if start < end:
                label = " and ".join(map(str, phase.regions))
                middle = math.sqrt(start * end)
                rows.append({"kind": "rule", "at": start, "middle": middle, "label": label})
        x = parts.axis("time", "rounds", log=True)
        line = {
            "transform": parts.only("line"),
            "mark": {"type": "line", "strokeWidth": 2.5},
            "encoding": {
                "x": x,
                "y": parts.axis("value", "information", log=True),
                "color": parts.colours("which", names),
                "tooltip": parts.told(("time", "rounds"), ("value", "design")),
            },
        }
        rule = {
            "transform": parts.only("rule"),
            "mark": {"type": "rule", "color": parts.MUTED, "strokeDash": [4, 3]},
            "encoding": {"x": {"field": "at", "type": "quantitative"}},
        }
        text = {
            "transform": parts.only("rule"),
            "mark": {"type": "text", "baseline": "top", "color": parts.MUTED},
            "encoding": {
                "x": {"field": "middle", "type": "quantitative"},
                "y": {"value": 2},
                "text": {"field": "label"},
            },
        }
        return Picture(
            "design",
            "The information path, phase by phase",
            "Information across the direction and along it; dashed where the path switches to"
            " another region, whose number is on top.",
            parts.chart([rule, line, text]),
            rows,
        )

    def _potential(self) -> Picture:
        path, model = self.path, self.model
        horizons = np.geomspace(10.0, 1e5, HORIZONS)
        names = ["J* of any policy", "J of the path"]
        rows: Rows = []
        for horizon in horizons.tolist():
            most = theory.worst_case_potential(
                model, horizon=horizon, regularization=path.regularization
            )
            for name, value in zip(names, (most.value, path.potential(horizon)), strict=True):
                rows.append({"which": name, "time": horizon, "value": float(value)})
        line = {
            "mark": {"type": "line", "strokeWidth": 2, "point": {"size": 20}},
            "encoding": {
                "x": parts.axis("time", "rounds", log=True),
                "y": parts.axis("value", "potential"),
                "color": parts.colours("which", names),
                "tooltip": parts.told(("time", "rounds"), ("value", "potential")),
            },
        }
        return Picture(
            "potential",
            "The potentials J and J*",
            "The potential of the path, and the largest of any policy.",
            parts.chart([line]),
            rows,
        )

    def _dimension(self) -> Picture:
        observe, ridge = list(self.values["observe"]), self.values["regularization"]
        model = self.model
        names = ["the paper's path", "d / p_min"]
        rows: Rows = []
        for p in np.linspace(SMALLEST, 1.0, POINTS).tolist():
            varied = MultiThreshold(model.threshold_radians, [*observe[:-1], p], model.direction)
            path = theory.information_path(varied, regularization=ridge)
            for name, value in zip(
                names, (path.effective_dimension, path.worst_case_dimension), strict=True
            ):
                rows.append({"kind": "line", "which": name, "p": p, "value": value})
        rows.append({"kind": "rule", "at": observe[-1]})
        line = {
            "transform": parts.only("line"),
            "mark": {"type": "line", "strokeWidth": 2},
            "encoding": {
                "x": parts.share("p", "p of the last region"),
                "y": parts.axis("value", "effective dimension", log=True),
                "color": parts.colours("which", names),
                "tooltip": parts.told(("p", "p"), ("value", "effective dimension")),
            },
        }
        return Picture(
            "dimension",
            "The paper's effective dimension against the worst case",
            "As the region at the pole is seen less often, everything else as set.",
            parts.chart([line, parts.upright("here")]),
            rows,
        )

    def python(self) -> str:
        """Return Python code that computes the same."""
        values = self.values
        ridge = format(values["regularization"], ".10g")
        direction = [0] * (values["dimension"] - 1) + [1]
        return f"""\
import numpy as np
from halfseen import MultiThreshold, theory

model = MultiThreshold(
    np.radians({listed(values["degrees"])}), {listed(values["observe"])}, {direction}
)
path = theory.information_path(model, regularization={ridge})
print(path)
for horizon in np.geomspace(10, 100_000, {HORIZONS}):
    most = theory.worst_case_potential(model, horizon=horizon, regularization={ridge})
    print(f"{{horizon:,.0f}} rounds: J {{path.potential(horizon):.4g}}, J* {{most.value:.4g}}")
"""

    def toml(self) -> str:
        """Return a study in TOML of LinUCB on the ball under this censorship."""
        values = self.values
        direction = [0] * (values["dimension"] - 1) + [1]
        return f"""\
# LinUCB where the best action is at the pole.
horizon = 2000
replications = {REPLICATIONS}
seed = {SEED}

[problems.ball]
kind = "linear"
theta = {direction}
noise = 0.5

[censorships.thresholds]
kind = "multi-threshold"
threshold_radians = {list(self.model.threshold_radians)}
observe = {listed(values["observe"])}
direction = {direction}

[policies.LinUCB]
kind = "lin-ucb"
regularization = {values["regularization"]:.10g}
"""


def _globe(layers: list[parts.Spec], rows: Rows) -> Picture:
    return Picture(
        "globe",
        "Which actions are seen",
        "The ball: a disc for d = 2, a sphere from slightly above for d = 3, from the side for"
        " more. The direction of the censorship points up, and dark regions are seen often.",
        parts.chart(layers, height=260, width=260, autosize={"type": "pad"}),
        rows,
    )
