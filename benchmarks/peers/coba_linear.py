"""coba: LinUCB with one theta and a vector per action, through the live learner."""

from coba import LinUCBLearner
from linear_contexts import OWN, OWN_REWARDS, loop
from stopwatch import report


def make():
    learner = LinUCBLearner(features=["a"])

    def choose(actions):
        return actions.index(learner.predict(None, actions)[0])

    return (
        choose,
        lambda actions, arm, reward: learner.learn(None, actions[arm], reward, 1.0),
    )


if __name__ == "__main__":
    contexts = [[tuple(a) for a in actions] for actions in OWN.tolist()]
    play = loop(make, contexts, OWN_REWARDS)
    report("coba", "LinUCB, one theta", {"live loop": (play, 3_000)})
