"""coba: UCB1-Tuned through Experiment, and through the live learner."""

import random

from coba import BanditUCBLearner, Environment, Environments, Experiment, SequentialCB
from stopwatch import ARMS, MEANS, loop, report


class Arms(Environment):
    """Gaussian arms; a reward is drawn only for the arm that is asked about."""

    def __init__(self, rounds):
        self.rounds = rounds

    @property
    def params(self):
        return {"env_type": "Arms", "rounds": self.rounds}

    def read(self):
        gauss = random.Random(1).gauss

        def rewards(arm):  # coba hands the arm over as a float
            return gauss(MEANS[int(arm)], 1.0)

        for _ in range(self.rounds):
            yield {"context": None, "actions": ARMS, "rewards": rewards}


def experiment(rounds):
    result = Experiment(
        Environments(Arms(rounds)), BanditUCBLearner(), SequentialCB(record=["reward"])
    ).run(quiet=True, processes=1)
    played = result.interactions["reward"]
    if len(played) != rounds:  # an error inside the run is logged, not raised
        raise RuntimeError(f"{len(played)} of {rounds} rounds came back")
    return sum(played) / rounds


def make():
    learner = BanditUCBLearner()
    return (
        lambda: learner.predict(None, ARMS)[0],
        lambda arm, reward: learner.learn(None, arm, reward, 1.0),
    )


if __name__ == "__main__":
    report(
        "coba",
        "UCB1-Tuned",
        {"Experiment": (experiment, 60_000), "live loop": (loop(make), 100_000)},
        make,
    )
