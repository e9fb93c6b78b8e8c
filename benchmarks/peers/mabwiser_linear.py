"""MABWiser: LinUCB, disjoint, by predict and partial_fit."""

from linear_contexts import COUNT, SHARED, SHARED_REWARDS, loop
from mabwiser.mab import MAB, LearningPolicy
from stopwatch import report


def make():
    arms = list(range(COUNT))
    mab = MAB(arms, LearningPolicy.LinUCB(alpha=1.0))
    mab.fit(
        arms, [rewards[arm] for arm, rewards in enumerate(SHARED_REWARDS[:COUNT])], SHARED[:COUNT]
    )
    return mab.predict, lambda x, arm, reward: mab.partial_fit([arm], [reward], x)


if __name__ == "__main__":
    play = loop(make, SHARED[:, None], SHARED_REWARDS)
    report("MABWiser", "LinUCB, disjoint", {"live loop": (play, 2_000)})
