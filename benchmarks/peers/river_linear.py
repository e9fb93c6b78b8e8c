"""river: LinUCBDisjoint by pull and update; contexts are dictionaries."""

from linear_contexts import COUNT, SHARED, SHARED_REWARDS, loop
from river import bandit
from stopwatch import report


def make():
    policy = bandit.LinUCBDisjoint(seed=1)
    arms = list(range(COUNT))
    return (
        lambda x: policy.pull(arms, x),
        lambda x, arm, reward: policy.update(arm, x, reward),
    )


if __name__ == "__main__":
    contexts = [dict(enumerate(x)) for x in SHARED.tolist()]
    play = loop(make, contexts, SHARED_REWARDS)
    report("river", "LinUCBDisjoint", {"live loop": (play, 2_000)})
