"""contextualbandits: LinUCB, disjoint, one by one and, not the same algorithm, in batches."""

import numpy as np
from contextualbandits.online import LinUCB
from linear_contexts import COUNT, SHARED, SHARED_REWARDS, loop
from stopwatch import report

BATCH = 100


def policy():
    return LinUCB(nchoices=COUNT, fit_intercept=False, use_float=False, random_state=1)


def make():
    live = policy()
    return (
        lambda x: live.predict(x)[0],
        lambda x, arm, reward: live.partial_fit(x, np.array([arm]), np.array([reward])),
    )


def batches(rounds):
    """Choose for 100 contexts at once and learn only after all of them."""
    live, total = policy(), 0.0
    rewards = np.array(SHARED_REWARDS)
    for start in range(0, rounds, BATCH):
        rows = slice(start, min(start + BATCH, rounds))
        arms = live.predict(SHARED[rows])
        gained = rewards[rows][np.arange(len(arms)), arms]
        live.partial_fit(SHARED[rows], arms, gained)
        total += gained.sum()
    return total / rounds


if __name__ == "__main__":
    report(
        "contextualbandits",
        "LinUCB, disjoint",
        {
            "live loop": (loop(make, SHARED[:, None], SHARED_REWARDS), 3_000),
            "learning once in 100 rounds": (batches, 20_000),
        },
    )
