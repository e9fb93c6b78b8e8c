"""MABWiser: UCB1 by predict and partial_fit; its simulator only replays logged data."""

import numpy as np
from mabwiser.mab import MAB, LearningPolicy
from stopwatch import ARMS, MEANS, loop, noise, report


def make():
    mab = MAB(ARMS, LearningPolicy.UCB1(alpha=1.0))
    first = noise(len(ARMS), seed=3)
    mab.fit(ARMS, [m + z for m, z in zip(MEANS, first, strict=True)])
    return (
        mab.predict,
        lambda arm, reward: mab.partial_fit(np.array([arm]), np.array([reward])),
    )


if __name__ == "__main__":
    report("MABWiser", "UCB1 (alpha=1)", {"live loop": (loop(make), 20_000)}, make)
