"""banditlab: Joulani's delayed UCB for ten arms, with geometric delays of 50 rounds on average."""

import numpy as np
from banditlab_arms import Arms
from mab_framework import JoulaniDelayedUCB
from mab_framework.experiment.runner import ExperimentRunner
from stopwatch import ARMS, report

DELAYS = {"type": "geometric", "p": 1.0 / 51.0}


def runner(rounds):
    result = ExperimentRunner(
        Arms(len(ARMS), delay_config=DELAYS),
        lambda: JoulaniDelayedUCB(len(ARMS)),
        steps=rounds,
        n_runs=1,
        seed=1,
    ).run()
    return np.mean(result["rewards_mean"])


def live(rounds):
    world, policy, total = Arms(len(ARMS), delay_config=DELAYS), JoulaniDelayedUCB(len(ARMS)), 0.0
    for _ in range(rounds):
        found = world.step(policy.select_arm())
        policy.update(found["available_rewards"])
        total += found["instant_reward"]
    return total / rounds


if __name__ == "__main__":
    ways = {"ExperimentRunner": (runner, 40_000), "live loop": (live, 50_000)}
    report("banditlab", "UCB1 (JoulaniDelayedUCB), geometric delays of 50 rounds", ways)
