"""pymab: UCB through Experiment with the Rust core, and through the live policy."""

import numpy as np
from pymab import BanditEnvironment, Experiment, ExperimentConfig, GaussianReward
from pymab.policies import UCBPolicy
from stopwatch import ARMS, MEANS, loop, report

REPLICATES = 10


def experiment(n_policies):
    """Play n UCB policies side by side; checking the result is shared among them."""

    def play(rounds):
        result = Experiment(
            environment=BanditEnvironment(means=np.array(MEANS), reward_model=GaussianReward()),
            policies={f"ucb-{i}": UCBPolicy(n_arms=len(ARMS)) for i in range(n_policies)},
            config=ExperimentConfig(
                horizon=rounds // (REPLICATES * n_policies),
                n_replicates=REPLICATES,
                seed=1,
                backend="rust",
            ),
        ).run()
        return result.rewards.mean()

    return play


def make():
    policy = UCBPolicy(n_arms=len(ARMS))
    rng = np.random.default_rng(1)
    return (
        lambda: policy.select_action(rng=rng),
        lambda arm, reward: policy.update(action=arm, reward=reward),
    )


if __name__ == "__main__":
    report(
        "pymab",
        "UCB",
        {
            "Experiment, one policy": (experiment(1), 200_000),
            "Experiment, ten policies": (experiment(10), 800_000),
            "live loop": (loop(make), 300_000),
        },
        make,
    )
