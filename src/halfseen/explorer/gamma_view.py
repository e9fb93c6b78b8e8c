"""Missing not at random: the bias of seen rewards, and bounds by Gamma."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from halfseen.censorship import RewardDependent
from halfseen.explorer import chart_parts as parts
from halfseen.explorer.controls import Control
from halfseen.explorer.view import REPLICATIONS, SEED, Picture, Rows, View, listed
from halfseen.logs.endless_log import endless_rewards, true_gamma
from halfseen.logs.missing_bounds import mean_bounds, tipping_gamma
from halfseen.logs.seen_rewards import SeenRewards
from halfseen.policies import UCB, GammaUCB
from halfseen.problems import ArmedBandit
from halfseen.studies.study import Study
from halfseen.tables import show

LARGEST = 20.0
POINTS = 41
ARMS = (2, 5)


class GammaView(View):
    """Means, and how often a success and a failure of each arm are seen."""

    name: ClassVar[str] = "missing-not-at-random"
    title: ClassVar[str] = "Missing not at random: Gamma against the truth"
    lead: ClassVar[str] = (
        "Happy customers may answer more often than others, or less often. Then the mean of the"
        " seen rewards is biased, and the best arm may be another one. Gamma, how many times the"
        " odds of being seen differ between a success and a failure, says how wrong it can be."
    )
    controls: ClassVar[tuple[Control, ...]] = (
        Control("means", "True mean", 0.02, 0.98, 0.01, (0.6, 0.5), entries=ARMS),
        Control(
            "successes",
            "Probability that a success is seen",
            0.02,
            1.0,
            0.01,
            (0.4, 0.8),
            entries=ARMS,
            follows=("means", 0),
        ),
        Control(
            "failures",
            "Probability that a failure is seen",
            0.02,
            1.0,
            0.01,
            (0.6, 0.5),
            entries=ARMS,
            follows=("means", 0),
        ),
        Control("horizon", "Rounds", 100, 50_000, 0.1, 10_000, whole=True, log=True),
    )

    @property
    def gamma(self) -> float:
        """The true odds ratio, the largest over the arms."""
        return true_gamma(self.values["successes"], self.values["failures"])

    @property
    def rewards(self) -> SeenRewards:
        """The rewards of an infinitely long log."""
        values = self.values
        return endless_rewards(values["means"], values["successes"], values["failures"])

    def answers(self) -> list[str]:
        """Return the seen means, the true Gamma and where the order tips."""
        rewards, means = self.rewards, self.values["means"]
        seen = ", ".join(f"{mean:.3f}" for mean in rewards.mean)
        true = ", ".join(f"{mean:g}" for mean in means)
        apparent, best = int(np.argmax(rewards.mean)), int(np.argmax(means))
        right = "which is right" if apparent == best else f"but arm {best + 1} is"
        found = [
            f"The means of the seen rewards are {seen}; the true ones are {true}. By them arm"
            f" {apparent + 1} looks best, {right}."
        ]
        tip = tipping_gamma(rewards)
        true_gamma = "infinite" if math.isinf(self.gamma) else show(self.gamma)
        if tip.rival is None:
            tells = "However the missing rewards differ, the order stays."
        elif math.isinf(tip.gamma):
            tells = "No finite Gamma changes the order."
        else:
            tells = f"From Gamma = {show(tip.gamma)} on, {tip.rival} may be as good."
        return [*found, f"The true Gamma is {true_gamma}. {tells}"]

    def pictures(self) -> list[Picture]:
        """Return the bounds of every mean against Gamma."""
        rewards = self.rewards
        names = list(rewards.names)
        rows: Rows = []
        for gamma in np.geomspace(1.0, LARGEST, POINTS).tolist():
            bounds = mean_bounds(rewards, gamma)
            rows += [
                {"kind": "band", "which": name, "gamma": gamma, "low": low, "high": high}
                for name, low, high in zip(
                    names, bounds.low.tolist(), bounds.high.tolist(), strict=True
                )
            ]
        rows += [
            {"kind": "truth", "which": name, "mean": mean}
            for name, mean in zip(names, self.values["means"], strict=True)
        ]
        if self.gamma <= LARGEST:
            rows.append({"kind": "rule", "at": self.gamma})
        x = parts.axis(
            "gamma",
            "Gamma, at most",
            log=True,
            scale={"domain": [1, LARGEST]},
            axis={"values": [1, 2, 5, 10, 20]},
        )
        band = {
            "transform": parts.only("band"),
            "mark": {"type": "area", "opacity": 0.25, "line": {"strokeWidth": 1.5}},
            "encoding": {
                "x": x,
                "y": parts.share("low", "mean reward"),
                "y2": {"field": "high"},
                "color": parts.colours("which", names),
                "tooltip": parts.told(("gamma", "Gamma"), ("low", "at least"), ("high", "at most")),
            },
        }
        top = {
            "transform": parts.only("band"),
            "mark": {"type": "line", "strokeWidth": 1.5},
            "encoding": {
                "x": x,
                "y": parts.share("high", "mean reward"),
                "color": parts.colours("which", names),
            },
        }
        truth = {
            "transform": parts.only("truth"),
            "mark": {"type": "rule", "strokeWidth": 2, "strokeDash": [6, 3]},
            "encoding": {
                "y": {"field": "mean", "type": "quantitative"},
                "color": parts.colours("which", names),
            },
        }
        picture = Picture(
            "bounds",
            "Bounds on the means",
            "Bands: bounds from an infinitely long log if the odds differ at most Gamma-fold."
            " Dashed: the truth, which is inside the bands from the true Gamma on.",
            parts.chart([band, top, truth, parts.upright("true Gamma")], height=300),
            rows,
        )
        return [picture]

    def _observe(self) -> list[dict[int, float]]:
        pairs = zip(self.values["failures"], self.values["successes"], strict=True)
        return [{0: failure, 1: success} for failure, success in pairs]

    def _policies(self) -> dict[str, UCB | GammaUCB]:
        level = min(self.gamma, LARGEST)
        return {"UCB": UCB(), "GammaUCB": GammaUCB(gamma=level)}

    def study(self) -> Study:
        """Return UCB, which assumes missing at random, and GammaUCB."""
        return Study(
            ArmedBandit(list(self.values["means"]), reward="bernoulli"),
            {"by reward": RewardDependent(self._observe())},
            self._policies(),
            horizon=self.values["horizon"],
            replications=REPLICATIONS,
            seed=SEED,
            checkpoints=25,
        )

    def python(self) -> str:
        """Return Python code that computes and simulates the same."""
        means, successes, failures = (
            listed(self.values[name]) for name in ("means", "successes", "failures")
        )
        return f"""\
from halfseen import UCB, ArmedBandit, GammaUCB, RewardDependent, Study, simulate
from halfseen.logs.endless_log import endless_rewards, true_gamma
from halfseen.logs.missing_bounds import mean_bounds, tipping_gamma

means = {means}
successes = {successes}  # how likely a success of each arm is to be seen
failures = {failures}
rewards = endless_rewards(means, successes, failures)
gamma = true_gamma(successes, failures)
print("means of what is seen:", *rewards.mean.round(3))
print("true Gamma:", gamma)
print("where the order may change:", tipping_gamma(rewards))
print("what the means can be at the true Gamma:")
print(mean_bounds(rewards, gamma))

observe = [{{0: down, 1: up}} for up, down in zip(successes, failures)]
study = Study(
    ArmedBandit(means, reward="bernoulli"),
    {{"by reward": RewardDependent(observe)}},
    {{"UCB": UCB(), "GammaUCB": GammaUCB(gamma=min(gamma, {LARGEST}))}},
    horizon={self.values["horizon"]},
    replications={REPLICATIONS},
    seed={SEED},
)
print(simulate(study).summary())
"""

    def toml(self) -> str:
        """Return the same study in TOML."""
        entries = (f"{{ 0 = {entry[0]!r}, 1 = {entry[1]!r} }}" for entry in self._observe())
        return f"""\
horizon = {self.values["horizon"]}
replications = {REPLICATIONS}
seed = {SEED}

[problems.arms]
kind = "arms"
means = {listed(self.values["means"])}
reward = "bernoulli"

[censorships."by reward"]
kind = "reward-dependent"
observe = [{", ".join(entries)}]

[policies.UCB]
kind = "ucb"

[policies.GammaUCB]
kind = "gamma-ucb"
gamma = {min(self.gamma, LARGEST)!r}
"""
