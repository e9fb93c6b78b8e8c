"""banditlab: its UCB for arms without context (Joulani's, here with no delay)."""

import numpy as np
from mab_framework import JoulaniDelayedUCB, SyntheticNonContextualEnv
from mab_framework.experiment.runner import ExperimentRunner
from stopwatch import ARMS, MEANS, loop, report


class Arms(SyntheticNonContextualEnv):
    """The library's own Gaussian arms, with our means in place of random ones."""

    def reset(self):
        super().reset()
        self.means = np.array(MEANS)


def runner(rounds):
    result = ExperimentRunner(
        Arms(len(ARMS)), lambda: JoulaniDelayedUCB(len(ARMS)), steps=rounds, n_runs=1, seed=1
    ).run()
    return np.mean(result["rewards_mean"])


def make():
    policy = JoulaniDelayedUCB(len(ARMS))
    return (
        policy.select_arm,
        lambda arm, reward: policy.update([{"action": arm, "reward": reward}]),
    )


if __name__ == "__main__":
    report(
        "banditlab",
        "UCB1 (JoulaniDelayedUCB, no delay)",
        {"ExperimentRunner": (runner, 40_000), "live loop": (loop(make), 50_000)},
        make,
    )
