"""obp: LinUCB, disjoint, one context at a time."""

from linear_contexts import COUNT, DIMENSION, SHARED, SHARED_REWARDS, loop
from obp.policy import LinUCB
from stopwatch import report


def make():
    policy = LinUCB(dim=DIMENSION, n_actions=COUNT, epsilon=1.0, random_state=1)
    return (
        lambda x: policy.select_action(x)[0],
        lambda x, arm, reward: policy.update_params(action=arm, reward=reward, context=x),
    )


if __name__ == "__main__":
    play = loop(make, SHARED[:, None], SHARED_REWARDS)
    report("obp", "LinUCB, disjoint", {"live loop": (play, 10_000)})
