"""banditlab: LinUCB with one ridge regression per arm and a vector per action."""

from linear_contexts import COUNT, DIMENSION, OWN, OWN_REWARDS, loop
from mab_framework import LinUCBAlgorithm, OnlineRidgeRegression
from stopwatch import report


def make():
    policy = LinUCBAlgorithm(COUNT, [OnlineRidgeRegression(DIMENSION) for _ in range(COUNT)])
    return (
        policy.select_arm,
        lambda x, arm, reward: policy.update([{"action": arm, "reward": reward, "context": x}]),
    )


if __name__ == "__main__":
    play = loop(make, OWN, OWN_REWARDS)
    report("banditlab", "LinUCB, disjoint", {"live loop": (play, 5_000)})
