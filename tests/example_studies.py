"""Small studies the tests share."""

import copy

from halfseen import (
    IMED,
    KLUCB,
    MOSS,
    UCB,
    UCB1,
    ArmedBandit,
    BernoulliThompson,
    ConversionUCB,
    DoublyRobust,
    EpsilonGreedy,
    FixedArms,
    GammaThompson,
    GammaUCB,
    GaussianThompson,
    GeometricDelay,
    HoeffdingUCB,
    HopefulUCB,
    ImputeMean,
    ImputeZero,
    InversePropensity,
    KLUCBPlusPlus,
    OptimisticElimination,
    PerArm,
    ProxyUCB,
    QueuedPolicy,
    RandomArms,
    RandomChoice,
    RobustUCB,
    SequenceOfArms,
    StratifiedUCB,
    Study,
    SuccessiveElimination,
    Uniform,
)

BINARY_POLICIES = {  # for rewards in [0, 1]
    "bernoulli-thompson": BernoulliThompson(successes=2.0, failures=3.0),
    "gamma-thompson": GammaThompson(),
    "hopeful-ucb": HopefulUCB(exponent=1.0),
    "gamma-ucb": GammaUCB(3.0, objective="lower", exponent=0.1),
    "successive-elimination": SuccessiveElimination(exponent=0.1),
    "optimistic-elimination": OptimisticElimination(exponent=0.1),
}
LIVE_POLICIES = BINARY_POLICIES | {
    "ucb": UCB(regularization=0.5, bound=2.0),
    "ucb1": UCB1(exploration=2.0),
    "robust-ucb": RobustUCB(order=0.5, moment=2.0, bound=1.5),
    "imed": IMED(family="gaussian"),
    "kl-ucb": KLUCB(clock="observed"),
    "kl-ucb++": KLUCBPlusPlus(dimension=4.5),
    "moss": MOSS(),
    "gaussian-thompson": GaussianThompson(prior=0.3),
    "epsilon-greedy": EpsilonGreedy(epsilon=0.2, decay=0.5),
    "random": RandomChoice(),
    "impute-zero": ImputeZero(base=UCB1(exploration=3.0)),
    "impute-mean": ImputeMean(base=GaussianThompson(prior=2.0)),
    "inverse-propensity": InversePropensity(observe=0.4),
    "doubly-robust": DoublyRobust(observe=0.4, regularization=2.0),
    "hoeffding-ucb": HoeffdingUCB(exponent=1.5),
}
STUDIED_POLICIES = {  # which no agent plays
    "queued": QueuedPolicy(base=UCB1(exploration=1.0)),
    "conversion-ucb": ConversionUCB(GeometricDelay(3), bound="hoeffding", exponent=1.0),
    "stratified-ucb": StratifiedUCB(exponent=0.1),
    "proxy-ucb": ProxyUCB(exponent=0.1),
}
EVERY_POLICY = LIVE_POLICIES | STUDIED_POLICIES
EVERY_ACTION_SET = {
    "fixed": FixedArms([2, 0]),
    "random": RandomArms([0.5, 0.1, 1.0]),
    "sequence": SequenceOfArms([[0, 1], [2]]),
}
MEANS = (0.6, 0.5, 0.2)
SPEC = {
    "horizon": 60,
    "replications": 4,
    "seed": 3,
    "problems": {"offers": {"kind": "arms", "means": [0.6, 0.5, 0.2], "reward": "bernoulli"}},
    "censorships": {"some": {"kind": "per-arm", "observe": [0.3, 0.9, 1.0]}},
    "policies": {
        "plain": {"kind": "ucb", "regularization": 2.0},
        "wrong": {"kind": "impute-zero", "base": {"kind": "ucb"}},
    },
}
TOML = """
horizon = 60
replications = 4
seed = 3

[problems.offers]
kind = "arms"
means = [0.6, 0.5, 0.2]
reward = "bernoulli"

[censorships.some]
kind = "per-arm"
observe = [0.3, 0.9, 1.0]

[policies.plain]
kind = "ucb"
regularization = 2.0

[policies.wrong]
kind = "impute-zero"
base = { kind = "ucb" }
"""


def spec(**changes):
    """Return a valid spec with some top-level keys changed."""
    return copy.deepcopy(SPEC) | changes


def small_study(**changes):
    """Return a study of six cells that plays in milliseconds."""
    arguments = {
        "problems": ArmedBandit(MEANS, reward="bernoulli"),
        "censorships": {"some": PerArm([0.3, 0.9, 1.0])},
        "policies": {"plain": UCB(), "coin": RandomChoice(), "wrong": ImputeZero()},
        "horizon": 60,
        "replications": 4,
        "seed": 3,
        "checkpoints": 5,
    }
    return Study(**(arguments | changes))


def broad_study():
    """Return a study with every policy, every action set and every censorship."""
    problems = {"all": ArmedBandit(MEANS, reward="bernoulli")} | {
        kind: ArmedBandit(MEANS, reward="bernoulli", actions=actions)
        for kind, actions in EVERY_ACTION_SET.items()
    }
    censorships = {"per arm": PerArm([0.3, 0.9, 1.0]), "uniform": Uniform(0.5)}
    return Study(problems, censorships, EVERY_POLICY, horizon=30, replications=2)
