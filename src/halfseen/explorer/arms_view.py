"""Arms: the effect of 1/p on bounds and regret."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from halfseen import theory
from halfseen.censorship import PerArm
from halfseen.explorer import chart_parts as parts
from halfseen.explorer.controls import Control
from halfseen.explorer.view import REPLICATIONS, SEED, Picture, Rows, View, listed
from halfseen.policies import IMED, UCB, BernoulliThompson, ImputeZero
from halfseen.problems import ArmedBandit
from halfseen.studies.study import Study
from halfseen.tables import show

FRAMES = 40
HORIZONS = 7  # number of horizons at which bounds are drawn
POLICIES = {
    "UCB, missing skipped": UCB(),
    "UCB, missing = 0": ImputeZero(),
    "IMED": IMED(),
    "Thompson": BernoulliThompson(),
}
ARMS = (2, 8)


class ArmsView(View):
    """Means, probabilities of being seen, and a horizon."""

    name: ClassVar[str] = "arms"
    title: ClassVar[str] = "Arms, some of them rarely seen"
    lead: ClassVar[str] = (
        "Every arm pays 0 or 1, and its reward is seen with its own probability p. Drag p of the"
        " best arm down: the regret of UCB falls, because it explores what it is uncertain about,"
        " and that of imputing 0 for missing rewards explodes."
    )
    controls: ClassVar[tuple[Control, ...]] = (
        Control("means", "Mean reward", 0.0, 1.0, 0.01, (0.6, 0.5, 0.4), entries=ARMS),
        Control(
            "observe",
            "Probability of being seen, p",
            0.01,
            1.0,
            0.01,
            (0.3, 0.9, 0.9),
            entries=ARMS,
            follows=("means", 0),
        ),
        Control("horizon", "Rounds", 100, 100_000, 0.1, 10_000, whole=True, log=True),
    )

    @property
    def problem(self) -> ArmedBandit:
        """The arms."""
        return ArmedBandit(list(self.values["means"]), reward="bernoulli")

    @property
    def censorship(self) -> PerArm:
        """Which rewards are seen."""
        return PerArm(list(self.values["observe"]))

    @property
    def _has_floor(self) -> bool:
        """Whether one arm is best and none is deterministic: then regret grows like log T."""
        means = sorted(self.values["means"])
        return bool(means[-2] < means[-1] < 1.0 and means[0] > 0.0)

    def answers(self) -> list[str]:
        """Return the effective dimension and the bounds on the regret."""
        means, observe = self.values["means"], self.values["observe"]
        horizon, arms = self.values["horizon"], len(means)
        size = theory.effective_dimension(observe)
        found = [
            f"The effective dimension is {show(size)} instead of {arms}: in the worst case over all"
            f" means, learning takes {show(size / arms)} times as many rounds."
            if size > arms
            else f"Every reward is seen: the effective dimension is the number of arms, {arms}."
        ]
        if max(means) == min(means):
            return [*found, "All arms are equally good: the regret is 0."]
        bounds = theory.regret_bounds(self.problem, self.censorship, UCB(), horizon)
        found.append(
            f"UCB that skips missing rewards loses at most {show(bounds.smallest.value)} in"
            f" {horizon:,} rounds (bound “{bounds.smallest.name}”); always playing the worst arm"
            f" loses {show(horizon * (max(means) - min(means)))}."
        )
        if self._has_floor:
            below = theory.asymptotic_lower_bound(self.problem, self.censorship)
            found.append(
                "Asymptotically, the regret of any consistent policy grows by at least"
                f" {show(below.constant)} whenever the rounds are multiplied by e."
            )
        return found

    def pictures(self) -> list[Picture]:
        """Return the weights 1/p, the water-filling and the bounds."""
        return [self._weights(), self._water(), self._corridor()]

    def _weights(self) -> Picture:
        rows: Rows = [
            {"arm": i + 1, "weight": 1.0 / p, "p": p} for i, p in enumerate(self.values["observe"])
        ]
        bars = {
            "mark": {"type": "bar", "color": parts.PALETTE[0]},
            "encoding": {
                "x": parts.arms_axis(),
                "y": parts.axis("weight", "1 / p"),
                "tooltip": parts.told(("p", "p"), ("weight", "1 / p")),
            },
        }
        return Picture(
            "weights",
            "What each arm adds to the effective dimension",
            "An arm that is seen one time in ten counts as ten arms that are always seen.",
            parts.chart([bars], height=180),
            rows,
        )

    def _water(self) -> Picture:
        observe, horizon = self.values["observe"], self.values["horizon"]
        budgets = np.geomspace(1.0, horizon, FRAMES)
        rows: Rows = []
        for frame, budget in enumerate(budgets):
            filled = theory.water_filling(observe, float(budget), 0.5, 1.0)
            rows += [
                {"frame": frame, "arm": i + 1, "seen": n * p, "rounds": n, "budget": float(budget)}
                for i, (n, p) in enumerate(zip(filled.allocation, observe, strict=True))
            ]
        bars = {
            "transform": [{"filter": "datum.frame == frame"}],
            "mark": {"type": "bar", "color": parts.PALETTE[5]},
            "encoding": {
                "x": parts.arms_axis(),
                "y": parts.axis("rounds", "rounds"),
                "tooltip": parts.told(("rounds", "rounds"), ("seen", "of which seen")),
            },
        }
        return Picture(
            "water",
            "Where the rounds go in the worst case",
            "Rounds are filled in so that every arm is seen equally often (water-filling): the"
            " rarely seen ones take most. Press play to animate it.",
            parts.chart([bars], height=180, params=[{"name": "frame", "value": FRAMES - 1}]),
            rows,
            FRAMES,
        )

    def _corridor(self) -> Picture:
        horizons = np.unique(np.geomspace(10, self.values["horizon"], HORIZONS).astype(int))
        observe = self.values["observe"]
        names = ["upper bound for UCB on these arms", "lower bound for any policy on some arms"]
        rows: Rows = []
        for horizon in horizons.tolist():
            above = theory.regret_bounds(self.problem, self.censorship, UCB(), horizon).smallest
            below = theory.minimax_lower_bound(observe, horizon, reward="bernoulli")
            for name, value in zip(names, (above.value, below.value), strict=True):
                rows.append({"which": name, "round": horizon, "regret": float(value)})
        line = {
            "mark": {"type": "line", "strokeWidth": 2, "point": {"size": 25}},
            "encoding": {
                "x": parts.axis("round", "rounds", log=True),
                "y": parts.axis("regret", "regret", log=True),
                "color": parts.colours("which", names, columns=1, labelLimit=400),
                "tooltip": parts.told(("round", "rounds"), ("regret", "regret")),
            },
        }
        return Picture(
            "corridor",
            "Proved bounds",
            "Upper: the smallest bound on the regret of UCB for these arms. Lower: what every"
            " policy loses on some arms with these probabilities of being seen.",
            parts.chart([line]),
            rows,
        )

    def study(self) -> Study:
        """Return the four policies on these arms."""
        return Study(
            self.problem,
            {"censored": self.censorship},
            POLICIES,
            horizon=self.values["horizon"],
            replications=REPLICATIONS,
            seed=SEED,
            checkpoints=25,
        )

    def python(self) -> str:
        """Return Python code that computes and simulates the same."""
        means, observe = (listed(self.values[name]) for name in ("means", "observe"))
        below = "\nprint(theory.asymptotic_lower_bound(problem, censorship))" * self._has_floor
        return f"""\
from halfseen import IMED, UCB, ArmedBandit, BernoulliThompson, ImputeZero, PerArm
from halfseen import Study, simulate, theory

problem = ArmedBandit({means}, reward="bernoulli")
censorship = PerArm({observe})
size = theory.effective_dimension({observe})
print(f"effective dimension {{size:.4g}}, {{size / problem.arms:.4g}} times the arms")
print(theory.regret_bounds(problem, censorship, UCB(), {self.values["horizon"]}).smallest)
print(f"the worst arm loses {{problem.gaps.max() * {self.values["horizon"]}:,.10g}}"){below}

policies = {{
    "UCB, missing skipped": UCB(),
    "UCB, missing = 0": ImputeZero(),
    "IMED": IMED(),
    "Thompson": BernoulliThompson(),
}}
study = Study(
    problem,
    {{"censored": censorship}},
    policies,
    horizon={self.values["horizon"]},
    replications={REPLICATIONS},
    seed={SEED},
)
print(simulate(study).summary())
"""

    def toml(self) -> str:
        """Return the same study in TOML."""
        means, observe = (listed(self.values[name]) for name in ("means", "observe"))
        return f"""\
horizon = {self.values["horizon"]}
replications = {REPLICATIONS}
seed = {SEED}

[problems.arms]
kind = "arms"
means = {means}
reward = "bernoulli"

[censorships.censored]
kind = "per-arm"
observe = {observe}

[policies."UCB, missing skipped"]
kind = "ucb"

[policies."UCB, missing = 0"]
kind = "impute-zero"

[policies.IMED]
kind = "imed"

[policies.Thompson]
kind = "bernoulli-thompson"
"""
