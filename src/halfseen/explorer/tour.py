"""A guided tour of the explorer in five steps."""

from __future__ import annotations

from typing import NamedTuple


class Step(NamedTuple):
    """One step: which page, with which settings, and what to look at."""

    view: str
    address: str
    title: str
    text: str


STEPS = (
    Step(
        "arms",
        "means=0.6,0.5,0.4&observe=1,1,1&horizon=10000",
        "Everything is seen",
        "Three offers, every outcome comes back. Each arm weighs 1 in the effective dimension, and"
        " imputing 0 changes nothing, because nothing is missing.",
    ),
    Step(
        "arms",
        "means=0.6,0.5,0.4&observe=1,0.1,0.1&horizon=10000",
        "Bad arms that are rarely seen",
        "Now the outcomes of the two worse offers come back one time in ten. It takes ten times as"
        " many tries to learn that they are worse: the regret of UCB rises.",
    ),
    Step(
        "arms",
        "means=0.6,0.5,0.4&observe=0.1,1,1&horizon=10000",
        "A best arm that is rarely seen",
        "The same with the best offer. UCB that skips missing rewards loses less than before, and"
        " UCB that imputes 0 estimates the best offer to be the worst.",
    ),
    Step(
        "thresholds",
        "degrees=60&observe=1,0.75&dimension=3&regularization=1",
        "Actions instead of arms",
        "Here the probability of being seen depends on the direction of an action. The effective"
        " dimension of the paper's path is 3.5, below d / p_min, which is 4, because region 0"
        " stays worth playing. Drag p of region 1 down: from 0.375 on only region 1 is left, and"
        " the two agree.",
    ),
    Step(
        "missing-not-at-random",
        "means=0.6,0.5&successes=0.4,0.8&failures=0.6,0.5&horizon=10000",
        "When the reward decides what is seen",
        "All of the above assumes that what is missing does not depend on the reward. Where it"
        " does, the seen means mislead, and only bounds like these remain.",
    ),
)
