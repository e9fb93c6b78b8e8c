"""Delays: feedback that comes late, and a window after which it counts as missing."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from halfseen import theory
from halfseen.censorship import Delayed
from halfseen.explorer import chart_parts as parts
from halfseen.explorer.controls import Control
from halfseen.explorer.view import REPLICATIONS, SEED, Picture, Rows, View, listed
from halfseen.policies import HoeffdingUCB, ImputeZero, QueuedPolicy
from halfseen.problems import ArmedBandit, GeometricDelay
from halfseen.studies.study import Study
from halfseen.tables import show

POINTS = 60
LONGEST = 2_000
ARMS = (2, 6)
POLICIES = {
    "learns on arrival": HoeffdingUCB(),
    "queued, as without delays": QueuedPolicy(HoeffdingUCB()),
    "missing = 0 at the window's end": ImputeZero(HoeffdingUCB()),
}


class DelayView(View):
    """Means, mean delays, the share that ever arrives, a window and a horizon."""

    name: ClassVar[str] = "delays"
    title: ClassVar[str] = "Delays and windows: how long to wait"
    lead: ClassVar[str] = (
        "Rewards come back after a number of rounds, some never; those that take longer than the"
        " window count as missing. A short window loses feedback, which makes arms harder to learn;"
        " a long one leaves more decisions pending."
    )
    controls: ClassVar[tuple[Control, ...]] = (
        Control("means", "Mean reward", 0.0, 1.0, 0.01, (0.6, 0.5), entries=ARMS),
        Control(
            "delays",
            "Mean delay, rounds",
            1.0,
            LONGEST,
            1.0,
            (200.0, 20.0),
            entries=ARMS,
            follows=("means", 0),
        ),
        Control(
            "arrive",
            "Share that ever arrives",
            0.05,
            1.0,
            0.01,
            (0.9, 0.9),
            entries=ARMS,
            follows=("means", 0),
        ),
        Control("window", "Window, rounds", 1, LONGEST, 0.05, 100, whole=True, log=True),
        Control("horizon", "Rounds", 100, 20_000, 0.1, 5_000, whole=True, log=True),
    )

    @property
    def laws(self) -> list[GeometricDelay]:
        """The delay law of every arm."""
        pairs = zip(self.values["delays"], self.values["arrive"], strict=True)
        return [GeometricDelay(mean, arrive=arrive) for mean, arrive in pairs]

    def _seen_by(self, window: float) -> np.ndarray:
        return np.array([float(law.arrived_by(window)) for law in self.laws])

    def answers(self) -> list[str]:
        """Return the effective dimension with this window and the number of outstanding rewards."""
        window, horizon = self.values["window"], self.values["horizon"]
        seen = self._seen_by(window)
        arms = len(seen)
        ever = theory.effective_dimension(self.values["arrive"])
        if seen.min() <= 0.0:
            late = int(np.argmin(seen)) + 1
            return [f"Nothing of arm {late} arrives within {window} rounds: wait longer."]
        size = theory.effective_dimension(seen)
        under_way = [theory.expected_under_way(law, horizon, window=window) for law in self.laws]
        shares = " and ".join(f"{p:.0%} of arm {i + 1}" for i, p in enumerate(seen))
        return [
            f"With a window of {window} rounds {arms} arms are as hard to learn as {show(size)}"
            f" that are always seen; without a window, as {show(ever)}.",
            f"Rewards that come back in time: {shares}.",
            "Outstanding rewards if one arm were always played: "
            + ", ".join(f"{show(n)} of arm {i + 1}" for i, n in enumerate(under_way))
            + ".",
        ]

    def pictures(self) -> list[Picture]:
        """Return the share arrived over time, and the effective dimension against the window."""
        return [self._arrivals(), self._windows()]

    def _arrivals(self) -> Picture:
        waits = np.unique(np.geomspace(1, LONGEST, POINTS).astype(int))
        names = [f"arm {i + 1}" for i in range(len(self.laws))]
        rows: Rows = [
            {"kind": "line", "which": name, "wait": wait, "share": float(law.arrived_by(wait))}
            for name, law in zip(names, self.laws, strict=True)
            for wait in waits.tolist()
        ]
        rows.append({"kind": "rule", "at": self.values["window"]})
        line = {
            "transform": parts.only("line"),
            "mark": {"type": "line", "strokeWidth": 2},
            "encoding": {
                "x": parts.axis("wait", "rounds since the decision", log=True),
                "y": parts.share("share", "share that has come back"),
                "color": parts.colours("which", names),
                "tooltip": parts.told(("wait", "rounds"), ("share", "share")),
            },
        }
        return Picture(
            "arrivals",
            "Share of rewards back over time",
            "Geometric delays; rewards to the right of the window count as missing.",
            parts.chart([line, parts.upright("window")]),
            rows,
        )

    def _windows(self) -> Picture:
        windows = np.unique(np.geomspace(1, LONGEST, POINTS).astype(int)).tolist()
        rows: Rows = []
        for window in windows:
            seen = self._seen_by(window)
            if seen.min() > 0.0:
                size = theory.effective_dimension(seen)
                rows.append({"kind": "line", "window": window, "size": size})
        rows.append({"kind": "rule", "at": self.values["window"]})
        line = {
            "transform": parts.only("line"),
            "mark": {"type": "line", "strokeWidth": 2, "color": parts.PALETTE[0]},
            "encoding": {
                "x": parts.axis("window", "window, rounds", log=True),
                "y": parts.axis("size", "effective dimension", log=True),
                "tooltip": parts.told(("window", "window"), ("size", "effective dimension")),
            },
        }
        return Picture(
            "windows",
            "What a window costs",
            "The effective dimension D(m), the sum of 1 / (share back within m rounds).",
            parts.chart([line, parts.upright("here")]),
            rows,
        )

    def study(self) -> Study:
        """Return three learners under these delays."""
        return Study(
            ArmedBandit(list(self.values["means"]), reward="bernoulli"),
            {"late": Delayed(self.laws, window=self.values["window"])},
            POLICIES,
            horizon=self.values["horizon"],
            replications=REPLICATIONS,
            seed=SEED,
            checkpoints=25,
        )

    def python(self) -> str:
        """Return Python code that computes and simulates the same."""
        values = self.values
        laws = ",\n    ".join(
            f"GeometricDelay({mean:.10g}, arrive={arrive:.10g})"
            for mean, arrive in zip(values["delays"], values["arrive"], strict=True)
        )
        return f"""\
from halfseen import ArmedBandit, Delayed, GeometricDelay, HoeffdingUCB, ImputeZero
from halfseen import QueuedPolicy, Study, simulate, theory

laws = [
    {laws},
]
window = {values["window"]}
for wait in (window, float("inf")):
    back = [float(law.arrived_by(wait)) for law in laws]
    print(f"back within {{wait}} rounds:", *(f"{{share:.0%}}" for share in back))
    if min(back) > 0:
        print(f"effective dimension {{theory.effective_dimension(back):.4g}}")
under_way = [theory.expected_under_way(law, {values["horizon"]}, window=window) for law in laws]
print("under way if always played:", *(f"{{number:.4g}}" for number in under_way))

study = Study(
    ArmedBandit({listed(values["means"])}, reward="bernoulli"),
    {{"late": Delayed(laws, window=window)}},
    {{
        "learns on arrival": HoeffdingUCB(),
        "queued, as without delays": QueuedPolicy(HoeffdingUCB()),
        "missing = 0 at the window's end": ImputeZero(HoeffdingUCB()),
    }},
    horizon={values["horizon"]},
    replications={REPLICATIONS},
    seed={SEED},
)
print(simulate(study).summary())
"""

    def toml(self) -> str:
        """Return the same study in TOML."""
        values = self.values
        laws = ",\n  ".join(
            f'{{ kind = "geometric", mean = {mean:.10g}, arrive = {arrive:.10g} }}'
            for mean, arrive in zip(values["delays"], values["arrive"], strict=True)
        )
        return f"""\
horizon = {values["horizon"]}
replications = {REPLICATIONS}
seed = {SEED}

[problems.arms]
kind = "arms"
means = {listed(values["means"])}
reward = "bernoulli"

[censorships.late]
kind = "delayed"
laws = [
  {laws},
]
window = {values["window"]}

[policies."learns on arrival"]
kind = "hoeffding-ucb"

[policies."queued, as without delays"]
kind = "queued"
base = {{ kind = "hoeffding-ucb" }}

[policies."missing = 0 at the window's end"]
kind = "impute-zero"
base = {{ kind = "hoeffding-ucb" }}
"""
