"""IMED, KL-UCB, KL-UCB++ and MOSS: formulas by another route, the observed clock, and bad input."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from scipy import optimize

from halfseen import (
    IMED,
    KLUCB,
    MOSS,
    UCB,
    Agent,
    ArmedBandit,
    FixedArms,
    ImputeMean,
    ImputeZero,
    InvalidInput,
    KLUCBPlusPlus,
    PerArm,
    Policy,
    StudentT,
    Study,
    Uniform,
    simulate,
)
from halfseen.kernels.kullback_leibler import BERNOULLI, EXPONENTIAL, POISSON, own_term
from halfseen.policies.arms import imed, kl_ucb
from halfseen.problems import Setting
from halfseen.studies.spec import parse_spec
from halfseen.testing import check_policy

STREAM = (1, 2, 3, 2)
LAWS = ("gaussian", "bernoulli", "poisson", "exponential")


def divergence(law, m, q, sigma=0.5):
    if law == "gaussian":
        return (q - m) ** 2 / (2 * sigma**2)
    if law == "poisson":
        return q - m + (m * math.log(m / q) if m > 0 else 0.0)
    if law == "exponential":
        return m / q - 1 - math.log(m / q)
    if q == 1.0:
        return 0.0 if m == 1.0 else math.inf
    return sum(a * math.log(a / b) if a > 0 else 0.0 for a, b in ((m, q), (1 - m, 1 - q)))


def upper(law, m, level):
    if law == "gaussian":
        return m + 0.5 * math.sqrt(2 * level)
    if level == 0 or (m == 1 and law == "bernoulli"):
        return m
    most = 1 - 1e-16 if law == "bernoulli" else 1e6
    return optimize.brentq(lambda q: divergence(law, m, q) - level, m or 1e-12, most, xtol=1e-15)


def scores(name, law, counts, means, horizon, dimension):
    counts, means = np.asarray(counts, float), np.asarray(means, float)
    arms = range(len(counts))
    if name == "imed":
        lead = max(means)
        costs = [0.0 if m == lead else divergence(law, m, lead) for m in means]
        return -counts * costs - np.log(counts)
    if name == "kl-ucb":
        level = np.full(len(counts), math.log(counts.sum()))
    else:
        x = horizon / (dimension * counts)
        log = np.log(np.maximum(x, 1.0))
        if name == "moss":
            return means + np.sqrt(log / counts)
        level = np.log(np.maximum(x * (log**2 + 1.0), 1.0))
    return np.array([upper(law, means[k], level[k] / counts[k]) for k in arms])


POLICIES = {
    "imed": IMED(),
    "kl-ucb": KLUCB(),
    "moss": MOSS(),
    "kl-ucb++": KLUCBPlusPlus(),
}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", POLICIES)
def test_choices_are_those_of_the_formula(name, law):
    """A thousand rounds of two in three observed: every choice has the largest plain score."""
    policy, arms, horizon = POLICIES[name], 4, 1000
    kernels = policy.kernels()
    table = policy.table(Setting(np.full(arms, 0.5), 1.0, horizon, law))
    generator = np.random.default_rng(3)
    state, plays = np.zeros((arms, kernels.statistics)), np.zeros(arms)
    playable, pulled = np.ones(arms, np.uint8), np.zeros(arms)
    truth = (0.3, 0.7, 0.55, 0.6)
    for clock in range(1, horizon + 1):
        chosen = kernels.choose(state, plays, playable, clock, STREAM, table)
        counts, totals = state[:, 0], state[:, 1]
        if np.any(counts == 0):
            assert chosen == np.flatnonzero(counts == 0)[0]
        else:
            dimension = np.sum((plays + 2) / (counts + 1))
            plain = scores(name, law, counts, totals / counts, horizon, dimension)
            assert plain[chosen] == pytest.approx(max(plain), rel=1e-9)
        pulled[chosen] += 1
        if generator.random() < 2 / 3:
            mean = truth[chosen]
            reward = {
                "gaussian": generator.normal(mean, 0.5),
                "bernoulli": generator.random() < mean,
                "poisson": generator.poisson(mean),
                "exponential": generator.exponential(mean),
            }[law]
            kernels.learn(state, chosen, float(reward), table)
            plays[chosen] = pulled[chosen]


@pytest.mark.parametrize("name", ["moss", "kl-ucb++"])
def test_known_dimension_gives_an_index(name):
    kind = type(POLICIES[name])
    policy = kind(dimension=8.0)
    state = np.array([[5.0, 3.0], [20.0, 9.0]])
    table = policy.table(Setting(np.full(2, 0.5), 1.0, 1000, "gaussian"))
    for arm in range(2):
        expected = scores(name, "gaussian", [5, 20], [0.6, 0.45], 1000, 8.0)[arm]
        assert policy.kernels().choose is None
        assert policy.kernels().index(state, arm, 7, STREAM, table) == pytest.approx(expected)
    for dimension, share in (("arms", 500.0), (8.0, 125.0), ("learned", 1000.0)):
        assert (
            kind(dimension=dimension).table(Setting(np.ones(2), 1, 1000, "gaussian"))[0, -1]
            == share
        )


@pytest.mark.parametrize(
    "policy",
    [
        KLUCB(clock="rounds"),
        KLUCBPlusPlus(dimension=9.0),
        KLUCBPlusPlus(dimension="arms"),
        MOSS(7.5),
        MOSS("arms"),
    ],
    ids=repr,
)
@pytest.mark.slow
def test_every_variant_keeps_the_contract(policy):
    check_policy(policy, horizon=60)


@pytest.mark.slow
@pytest.mark.parametrize("policy", [IMED(), KLUCB()], ids=repr)
def test_the_observed_sequence_is_the_uncensored_run_draw_by_draw(policy):
    """A policy of the observed clock, seen at its observations, plays the uncensored bandit."""
    problem = ArmedBandit([0.5, 0.4, 0.2], noise=0.5)
    tracks = {}
    for name, censorship in {"all": Uniform(1.0), "some": PerArm([0.2, 0.7, 0.05])}.items():
        study = Study(
            problem,
            censorship,
            policy,
            horizon=4000,
            replications=3,
            checkpoints=4000,
            baseline=False,
        )
        tracks[name] = simulate(study).tracks["observations"][0, 0, 0]
    checkpoints = tracks["all"].shape[1]
    for whole, part in zip(tracks["all"], tracks["some"], strict=True):
        totals = {int(row.sum()): row.tolist() for row in whole}
        shared = [row for row in part if int(row.sum()) in totals]
        assert len(shared) > checkpoints // 4
        assert all(row.tolist() == totals[int(row.sum())] for row in shared)


def test_counts_obey_wald():
    problem, p = ArmedBandit([0.5, 0.4, 0.2], noise=0.5), np.array([0.2, 0.7, 0.05])
    study = Study(
        problem,
        PerArm(p),
        IMED(),
        horizon=2000,
        replications=400,
        checkpoints=2,
        baseline=False,
    )
    tracks = simulate(study).tracks
    plays, seen = (tracks[n][0, 0, 0, :, -1].astype(float) for n in ("pulls", "observations"))
    gap = seen - p * plays
    assert np.all(np.abs(gap.mean(axis=0)) < 4 * gap.std(axis=0) / 20)


def test_imed_has_far_less_regret_than_ucb():
    problem = ArmedBandit([0.5, 0.4, 0.3, 0.2, 0.1], noise=0.5)
    study = Study(
        problem,
        PerArm([0.3, 0.9, 0.1, 0.5, 0.2]),
        {"UCB": UCB(), "IMED": IMED()},
        horizon=10_000,
        replications=200,
        checkpoints=2,
        baseline=False,
    )
    regret = simulate(study).tracks["regret"][0, 0, :, :, -1]
    error = regret.std(axis=1) / math.sqrt(200)
    assert np.all(np.abs(regret.mean(axis=1) - [582.2, 165.1]) < 4 * error)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: IMED("beta"), "IMED.family"),
        (lambda: KLUCB(clock="hours"), "KLUCB.clock"),
        (lambda: MOSS("known"), "must be a number, 'learned' or 'arms'"),
        (lambda: MOSS(0.5), "MOSS.dimension"),
        (lambda: KLUCBPlusPlus(dimension=math.nan), "KLUCBPlusPlus.dimension"),
    ],
)
def test_bad_parameters_are_named(make, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        make()


@pytest.mark.parametrize("kind", [IMED, KLUCB, KLUCBPlusPlus])
def test_a_family_that_does_not_fit_the_rewards_is_refused_when_the_study_is_made(kind):
    outside = ArmedBandit([2.0, 1.0])
    with pytest.raises(InvalidInput, match=r"family.*gaussian rewards.*bernoulli"):
        Study(outside, Uniform(0.5), kind("bernoulli"), horizon=100)
    with pytest.raises(InvalidInput, match="family` must be 'gaussian' or left out for gaussian"):
        Agent(kind("bernoulli"), arms=2)
    with pytest.raises(InvalidInput, match="family` must be 'poisson', 'gaussian' or left out for"):
        Agent(kind("exponential"), arms=2, reward="poisson")


@pytest.mark.parametrize("kind", [IMED, KLUCB, KLUCBPlusPlus])
def test_a_bernoulli_index_may_be_used_where_all_rewards_lie_between_0_and_1(kind):
    policies = {"bernoulli": kind("bernoulli"), "gaussian": kind()}
    within = ArmedBandit([0.6, 0.4], reward="uniform", noise=0.2)
    options = {"horizon": 2000, "replications": 40, "baseline": False}
    study = Study(within, Uniform(0.5), policies, **options)
    bernoulli, gaussian = simulate(study).tracks["regret"][0, 0, :, :, -1].mean(axis=1)
    assert gaussian < bernoulli < 400  # the largest variance between 0 and 1 is assumed
    beyond = ArmedBandit([0.6, 0.4], reward="uniform", noise=0.3)
    with pytest.raises(InvalidInput, match=r"family` must be 'gaussian'.*always between 0 and 1"):
        Study(beyond, Uniform(0.5), kind("bernoulli"), horizon=100)


@pytest.mark.parametrize(
    "policy",
    [MOSS(), *(kind(f) for kind in (IMED, KLUCB, KLUCBPlusPlus) for f in (None, "gaussian"))],
)
def test_rewards_without_a_variance_are_refused(policy):
    wild = ArmedBandit([0.5, 0.1], reward=StudentT(1.5))
    with pytest.raises(InvalidInput, match=r"reward` must have a finite variance.*RobustUCB"):
        Study(wild, Uniform(0.5), policy, horizon=100)


@pytest.mark.parametrize("kind", [IMED, KLUCB, KLUCBPlusPlus])
def test_rewards_of_no_family_are_taken_for_normal_only_when_told_so(kind):
    heavy = ArmedBandit([0.5, 0.1], reward=StudentT(3.0))
    with pytest.raises(InvalidInput, match=r"family` must be given for student-t rewards"):
        Study(heavy, Uniform(0.5), kind(), horizon=100)
    with pytest.raises(InvalidInput, match=r"family` must be given for student-t rewards"):
        Agent(kind(), arms=2, reward="student-t")
    Study(heavy, Uniform(0.5), kind("gaussian"), horizon=100)


@pytest.mark.parametrize("kind", [MOSS, KLUCBPlusPlus])
def test_a_dimension_below_the_number_of_arms_is_refused(kind):
    arms = ArmedBandit([0.5, 0.4, 0.3])
    with pytest.raises(InvalidInput, match=r"dimension` must be at least the number of arms, 3"):
        Study(arms, Uniform(1.0), kind(dimension=2.5), horizon=100)
    with pytest.raises(InvalidInput, match="sum of 1/p"):
        Agent(kind(dimension=2.5), arms=3)
    two = ArmedBandit([0.5, 0.4, 0.3], actions=FixedArms([0, 2]))
    Study(two, Uniform(0.9), kind(dimension=2.5), horizon=100)
    assert kind(dimension="arms").table(two.setting(100))[0, -1] == 50.0


def test_specs_know_the_policies():
    study = parse_spec(
        """
        horizon = 100
        problems.offers = { kind = "arms", means = [0.6, 0.5], reward = "bernoulli" }
        censorships.half = { kind = "uniform", observe = 0.5 }
        policies.IMED = { kind = "imed" }
        policies."KL-UCB" = { kind = "kl-ucb", clock = "rounds", family = "bernoulli" }
        policies."KL-UCB++" = { kind = "kl-ucb++", dimension = 4.0 }
        policies.MOSS = { kind = "moss", dimension = "arms" }
        """
    )
    expected = [IMED(), KLUCB("bernoulli", "rounds"), KLUCBPlusPlus(dimension=4.0), MOSS("arms")]
    assert list(study.policies.values()) == expected


def second_best(state, plays, playable, clock, stream, table):
    """Return the playable arm with the most observations per play, one never seen first."""
    chosen, top = -1, -1.0
    for arm in range(playable.size):
        if playable[arm] == 1:
            if state[arm, 0] == 0.0:
                return arm
            if state[arm, 0] / plays[arm] > top:
                chosen, top = arm, state[arm, 0] / plays[arm]
    return chosen


def anything(state, plays, playable, clock, stream, table):
    return clock % playable.size


@dataclass(frozen=True)
class MostSeen(Policy):
    kind: ClassVar[str] = "most-seen"
    waits = True
    choose = staticmethod(second_best)

    def table(self, setting):
        return np.zeros((setting.arms, 1))


class Anything(MostSeen):
    waits = False
    choose = staticmethod(anything)


class Nothing(MostSeen):
    choose = None


@pytest.mark.slow
def test_third_party_policy_that_chooses_by_itself_passes():
    check_policy(MostSeen())


def test_policy_that_chooses_what_is_not_playable_is_caught():
    with pytest.raises(AssertionError, match="not playable"):
        check_policy(Anything())


def test_policy_without_index_and_choice_is_refused():
    with pytest.raises(InvalidInput, match="must have a kernel `index` or `choose`"):
        Nothing().kernels()


def bisected_bound(law, mean, level):
    """Return the largest M with K(mean, M) <= level, by plain bisection."""

    def divergence(larger):
        if law == "bernoulli":
            rest = (1 - mean) * math.log((1 - mean) / (1 - larger)) if mean < 1 else 0.0
            return rest + (mean * math.log(mean / larger) if mean > 0 else 0.0)
        if law == "poisson":
            return larger - mean + (mean * math.log(mean / larger) if mean > 0 else 0.0)
        return mean / larger - 1 - math.log(mean / larger)

    low, high = mean, 1 - 1e-15 if law == "bernoulli" else mean + 1.0
    while law != "bernoulli" and divergence(high) < level:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if divergence(middle) <= level else (low, middle)
    return low


@pytest.mark.parametrize(
    ("law", "means"),
    [
        ("poisson", [10.0, 8.0, 1.0]),
        ("poisson", [100.0, 99.0, 3.0, 0.2]),
        ("poisson", [0.3, 0.2]),
        ("exponential", [10.0, 8.0, 1.0]),
        ("exponential", [0.1, 0.05, 0.001]),
        ("bernoulli", [0.99, 0.95, 0.5]),
    ],
)
def test_kl_ucb_plays_the_largest_bound_however_large_the_means(law, means):
    problem = ArmedBandit(means, reward=law)
    policy = KLUCB()
    kernels, table = policy.kernels(), policy.table(problem.setting(1_000))
    rng = np.random.default_rng(5)
    draw = {
        "poisson": rng.poisson,
        "exponential": rng.exponential,
        "bernoulli": lambda mean: float(rng.random() < mean),
    }[law]
    arms = len(means)
    state, playable = np.zeros((arms, kernels.statistics)), np.ones(arms, np.uint8)
    for n in range(400):
        chosen = kernels.choose(state, state[:, 0].copy(), playable, n + 1, (1, 2, 3, 4), table)
        seen, total = state[:, 0], state[:, 1]
        if seen.min() == 0:
            assert chosen == int(np.argmin(seen))
        else:
            bounds = [
                bisected_bound(law, t / k, math.log(n) / k)
                for k, t in zip(seen, total, strict=True)
            ]
            assert bounds[chosen] == pytest.approx(max(bounds), rel=1e-6)
        kernels.learn(state, chosen, float(draw(means[chosen])), table)


@pytest.mark.parametrize("size", [1e3, 1e6, 1e12])
def test_kl_ucb_tells_counts_of_any_size_apart(size):
    """Of Poisson rewards this large the bounds are the normal ones, mean + sqrt(2 mean log/N)."""
    rng, wrong = np.random.default_rng(1), 0
    for _ in range(60):
        seen = rng.integers(50, 200_000, 5).astype(float)
        log = math.log(seen.sum())
        means = size - math.sqrt(2.0 * size * log / seen.min()) * rng.random(5)
        table = np.array([[POISSON, 1.0]] * 5, float)
        state = np.zeros((5, 8))
        state[:, 0], state[:, 1], state[:, kl_ucb.MEAN] = seen, seen * means, means
        state[:, kl_ucb.OWN] = [own_term(POISSON, mean) for mean in means]
        bounds = means + np.sqrt(2.0 * means * log / seen)
        near = 1e-2 * (bounds.max() - means.max()) + 3.0 * log / seen.min()
        for _ in range(2):  # the second time from where the first search ended
            chosen = kl_ucb.largest_bound(state, np.ones(5, np.int64), log, table)
            wrong += bounds[chosen] < bounds.max() - near
    assert wrong == 0


@pytest.mark.parametrize("family", [BERNOULLI, POISSON, EXPONENTIAL])
def test_kl_ucb_plays_the_first_of_equal_arms_wherever_its_searches_begin(family):
    table = np.array([[family, 1.0]] * 2, float)
    playable, generator = np.ones(2, np.int64), np.random.default_rng(5)
    for _ in range(300):
        state = np.zeros((2, 8))
        for reward in [*generator.integers(0, 2, 7).tolist(), 1.0, 0.0]:
            for arm in (0, 1):
                kl_ucb.learn(state, arm, reward, table)
        mean = state[0, kl_ucb.MEAN]
        state[:, kl_ucb.BOUND] = mean + (1.0 - mean) * generator.uniform(0.05, 0.9, 2)
        log = generator.uniform(0.5, 8.0)
        assert kl_ucb.largest_bound(state, playable, log, table) == 0


@pytest.mark.parametrize("first", ["leader", "behind"])
def test_imed_plays_the_first_of_arms_that_tie(first):
    """8 rewards of mean 1/2: log 8. 2 rewards of 0: 2 log 2 + log 2, the same number."""
    arms = {"leader": [1.0, 0.0] * 4, "behind": [0.0, 0.0]}
    table = np.array([[BERNOULLI, 1.0]] * 2, float)
    for rounding in (-1e-15, 0.0, 1e-15):
        state = np.zeros((2, IMED.statistics))
        for arm, name in enumerate(sorted(arms, key=lambda name: name != first)):
            for reward in arms[name]:
                imed.learn(state, arm, reward, table)
        state[1, imed.LOG] += rounding
        assert imed.choose(state, np.zeros(2), np.ones(2, np.int64), 11, STREAM, table) == 0


@pytest.mark.parametrize("base", [IMED(), KLUCB(), KLUCBPlusPlus()])
def test_writing_0_for_exponential_rewards_is_refused_where_it_rules_an_arm_out(base):
    problem, censorship = ArmedBandit([1.0, 0.5], reward="exponential"), PerArm([0.5, 0.5])
    said = r"ImputeZero\.base` must not be an index for exponential rewards.*family='gaussian'"
    with pytest.raises(InvalidInput, match=said):
        Study(problem, censorship, ImputeZero(base), horizon=10)
    text = f"""
    horizon = 10
    [problems.times]
    kind = "arms"
    means = [1.0, 0.5]
    reward = "exponential"
    [censorships.half]
    kind = "uniform"
    observe = 0.5
    [policies.zeros]
    kind = "impute-zero"
    base = {{ kind = "{base.kind}" }}
    """
    with pytest.raises(InvalidInput, match=said):
        parse_spec(text)
    for other in (ImputeZero(type(base)(family="gaussian")), ImputeMean(base), ImputeZero(UCB())):
        Study(problem, censorship, other, horizon=10)
