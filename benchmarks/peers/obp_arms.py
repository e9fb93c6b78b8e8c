"""obp: epsilon-greedy, the closest it has; its only UCBs are contextual."""

import numpy as np
from obp.policy import EpsilonGreedy
from obp.simulator.simulator import BanditEnvironmentSimulator, BanditPolicySimulator
from stopwatch import ARMS, MEANS, loop, report


def policy():
    return EpsilonGreedy(n_actions=len(ARMS), epsilon=0.1, random_state=1)


def simulator(rounds):
    """Play the library's simulator, whose rewards are Bernoulli only."""
    arms = BanditEnvironmentSimulator(
        n_actions=len(ARMS),
        reward_function=lambda context, **_: np.tile(MEANS, (len(context), 1)),
        random_state=1,
    )
    game = BanditPolicySimulator(policy=policy(), environment=arms)
    game.steps(batch_bandit_rounds=arms.next_bandit_round_batch(rounds))
    return game.total_reward / rounds


def make():
    live = policy()
    return (
        lambda: live.select_action()[0],
        lambda arm, reward: live.update_params(action=arm, reward=reward),
    )


if __name__ == "__main__":
    report(
        "obp",
        "epsilon-greedy, 0.1 (no UCB without context)",
        {
            "BanditPolicySimulator, Bernoulli": (simulator, 150_000),
            "live loop": (loop(make), 250_000),
        },
        make,
    )
