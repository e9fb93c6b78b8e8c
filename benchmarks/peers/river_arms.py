"""river: UCB by pull and update, the loop its documentation shows."""

from river import bandit
from stopwatch import ARMS, loop, report


def make():
    policy = bandit.UCB(delta=1, burn_in=1, seed=1)
    return lambda: policy.pull(ARMS), policy.update


if __name__ == "__main__":
    report("river", "UCB1 (delta=1)", {"live loop": (loop(make), 200_000)}, make)
