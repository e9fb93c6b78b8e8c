"""pymab: LinUCB through Experiment with the Rust core, and through the live policy."""

import numpy as np
from linear_contexts import COUNT, DIMENSION, OWN, OWN_REWARDS, loop
from pymab import (
    Experiment,
    ExperimentConfig,
    GaussianContextProvider,
    GaussianReward,
    LinearContextualEnvironment,
)
from pymab.policies import LinUCBPolicy
from stopwatch import report

REPLICATES = 10


def experiment(rounds):
    """Play the library's own linear world, contexts drawn inside."""
    theta = np.random.default_rng(1).normal(size=DIMENSION)
    theta /= np.linalg.norm(theta)
    result = Experiment(
        environment=LinearContextualEnvironment(
            theta=np.tile(theta, (COUNT, 1)),
            context_provider=GaussianContextProvider(COUNT, DIMENSION, std=DIMENSION**-0.5),
            reward_model=GaussianReward(0.1),
        ),
        policies={"linucb": LinUCBPolicy(n_arms=COUNT, n_features=DIMENSION)},
        config=ExperimentConfig(
            horizon=rounds // REPLICATES, n_replicates=REPLICATES, seed=1, backend="rust"
        ),
    ).run()
    return result.rewards.mean()


def make():
    policy = LinUCBPolicy(n_arms=COUNT, n_features=DIMENSION)
    rng = np.random.default_rng(1)
    return (
        lambda x: policy.select_action(context=x, rng=rng),
        lambda x, arm, reward: policy.update(action=arm, reward=reward, context=x),
    )


if __name__ == "__main__":
    report(
        "pymab",
        "LinUCB, disjoint",
        {
            "Experiment, contexts drawn": (experiment, 40_000),
            "live loop": (loop(make, OWN, OWN_REWARDS), 2_000),
        },
    )
