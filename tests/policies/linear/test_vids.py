"""VIDS against plain numpy, its use of p, and bad input."""

import math

import numpy as np
import pytest

from halfseen import (
    VIDS,
    FiniteActions,
    InvalidInput,
    LinearAgent,
    LinearBandit,
    LinearPolicy,
    LinUCB,
    MultiThreshold,
    PerAction,
    RandomActions,
    Study,
    Uniform,
    simulate,
)
from halfseen.draws import normal, normal_from, words
from halfseen.engine.cells.linear import LinearCell
from halfseen.kernels.draw_order import action_places
from halfseen.policies.linear.base import LinearKnowledge, LinearSetting
from halfseen.policies.linear.vids import HEAD
from halfseen.problems.action_sets import SECOND
from halfseen.studies.spec import parse_spec
from halfseen.testing.linear import check_linear_cell

STREAM = (1, 2, 3, 2)
PROBES = np.array(
    [
        [1, 0, 0],
        [0.95, 0.1, 0],
        [0.95, 0, 0.1],
        [0.95, -0.1, 0.05],
        [0.9, 0.1, 0.1],
        [0.3, 1, 0],
        [0.3, 0, 1],
        [0.5, 0.7, 0],
        [0.5, 0, 0.7],
        [0.4, 0.6, 0.6],
    ]
)
LENGTH = np.linalg.norm(PROBES, axis=1).max()  # actions are at most 1 long: theta is longer
RARE = [0.9] * 5 + [0.02, 0.02, 0.5, 0.5, 0.02]


def probes(policies, horizon, replications, observe=RARE):
    problem = LinearBandit(
        (LENGTH * np.array([1.0, 0.3, 0.2])).tolist(), 0.5, FiniteActions(PROBES / LENGTH)
    )
    options = {"horizon": horizon, "replications": replications, "checkpoints": 2}
    return Study(problem, PerAction(observe), policies, baseline=False, **options)


@pytest.mark.parametrize(
    ("d", "spread", "draws", "count"),
    [
        (2, 4.0, 30, 10),
        (3, 1.0, 30, 10),
        (5, 1.5, 30, 10),
        (7, 1.0, 30, 10),
        (20, 0.4, 30, 10),
        (5, 1.5, 64, 16),
        (4, 1.5, 150, 37),
        (6, 0.5, 129, 17),
    ],
)
def test_gaps_and_gains_are_those_of_the_drawn_thetas(d, spread, draws, count):
    """With few and many coordinates, draws and actions, some of them the best of no draw."""
    sigma, across = 0.5, action_places(count)
    generator = np.random.default_rng(4)
    rows = PROBES / LENGTH if d == 3 else generator.uniform(-0.3, 0.3, size=(count, d))
    factor = spread * np.tril(generator.normal(size=(d, d)))
    estimate = generator.normal(size=d)
    policy = VIDS(draws=draws, observe="known")
    memory = np.zeros(policy.memory(count, d))
    p = np.resize(RARE, count)
    known = LinearKnowledge(estimate, factor, 0.0, np.zeros(count), np.zeros(count), p, 1)
    table = policy.table(LinearSetting(d, sigma, 1.0, 100))
    policy.choose(rows, known, memory, 7, STREAM, table)

    pairs = (d + 1) // 2
    place = np.array(
        [[i * pairs + c // 2 + c % 2 * SECOND for c in range(d)] for i in range(draws)]
    )
    assert normal(STREAM, 7, 0) == pytest.approx(_normals(place)[0, 0])
    thetas = estimate + sigma * _normals(place) @ factor.T
    values = thetas @ rows.T
    best = values.argmax(axis=1)
    gaps = values.max(axis=1).mean() - values.mean(axis=0)
    gains = np.zeros(count)
    for b in set(best):
        apart = values[best == b].mean(axis=0) - values.mean(axis=0)
        gains += np.mean(best == b) * apart**2
    assert len(set(best)) > 1
    assert memory[HEAD : HEAD + count] == pytest.approx(gaps, rel=1e-9)
    assert memory[HEAD + across :][:count] == pytest.approx(p * gains, rel=1e-9)


def _normals(places):
    """Return the normal numbers at some places of round 7, the second of a place included."""
    found = np.empty(places.shape)
    for spot, place in np.ndenumerate(places):
        second = place >= SECOND
        first = place - SECOND if second else place
        high, low, other_high, other_low = words(STREAM, 7, int(first))
        pair = (other_high, other_low) if second else (high, low)
        found[spot] = normal_from(*pair, STREAM, 7, int(place))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("observe", ["known", "learned"])
@pytest.mark.parametrize(
    "actions",
    [FiniteActions(PROBES / LENGTH), pytest.param(RandomActions(4, 3), marks=pytest.mark.slow)],
    ids=["fixed", "changing"],
)
def test_compiled_and_plain_code_agree_on_fixed_and_changing_actions(observe, actions):
    cuts = MultiThreshold([0.0], [0.9, 0.2], [1.0, 0.0, 0.0])
    problem, policy = LinearBandit([0.6, 0.4, 0.1], 0.5, actions), VIDS(observe=observe, draws=6)
    looks = np.array([1, 20, 60]), np.array([1.0])
    check_linear_cell(LinearCell(problem, cuts, policy, 60, 2, *looks))


@pytest.mark.slow
def test_knowing_p_pays_where_the_informative_actions_are_rarely_seen():
    policies = {
        "LinUCB": LinUCB(),
        "ignored": VIDS(observe="ignored"),
        "known": VIDS(observe="known"),
    }
    regret = simulate(probes(policies, 2000, 40)).tracks["regret"][0, 0, :, :, -1]
    ucb, ignored, known = np.median(regret, axis=1)
    assert known < 0.6 * ignored < 0.6 * ucb


@pytest.mark.slow
@pytest.mark.parametrize(
    ("observe", "expected", "error"),
    [("ignored", 193.0, 20.0), ("known", 33.0, 3.0), ("learned", 39.0, 3.0)],
)
def test_regret_on_probes_that_are_rarely_seen(observe, expected, error):
    study = probes(VIDS(observe=observe), 10_000, 80)
    regret = simulate(study).tracks["regret"][0, 0, 0, :, -1]
    own = regret.std() / math.sqrt(len(regret))
    assert abs(regret.mean() - expected) < 4 * math.hypot(own, error)


@pytest.mark.slow
def test_actions_may_change():
    problem = LinearBandit([0.6, 0.4, 0.1], 0.5, RandomActions(4, 3))
    cuts = MultiThreshold([0.0], [0.9, 0.2], [1.0, 0.0, 0.0])
    policies = {name: VIDS(observe=name, draws=20) for name in ("ignored", "known", "learned")}
    options = {"horizon": 400, "replications": 10, "checkpoints": 2}
    study = Study(problem, cuts, policies, baseline=False, **options)
    final = simulate(study).tracks["regret"][0, 0, :, :, -1].mean(axis=1)
    assert len(set(final)) == 3
    assert np.all(final < 0.25 * 400 * 0.5)


@pytest.mark.slow
def test_an_agent_draws_for_every_decision_and_is_not_told_p():
    agent = LinearAgent(VIDS(draws=10), 2, noise=0.1)
    rows = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.6]])
    for _ in range(60):
        decision = agent.choose(rows)
        agent.observe(decision, float(rows[decision.action] @ [0.9, 0.1]))
    assert [agent.choose(rows).action for _ in range(5)] == [0] * 5
    with pytest.raises(InvalidInput, match="must be 'learned' or 'ignored' in an agent"):
        LinearAgent(VIDS(observe="known"), 2)


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"observe": "guessed"}, "VIDS.observe"),
        ({"draws": 1}, "VIDS.draws"),
        ({"refresh": 0}, "VIDS.refresh"),
        ({"regularization": 0.0}, "VIDS.regularization"),
    ],
)
def test_bad_parameters_are_named(options, field):
    with pytest.raises(InvalidInput, match=field):
        VIDS(**options)


def test_the_gpu_refuses_it_on_actions_that_change_with_a_sentence():
    drawn = LinearBandit([0.6, 0.4], 0.5, RandomActions(3, 2))
    with pytest.raises(InvalidInput, match="cannot play VIDS on actions that change"):
        simulate(Study(drawn, Uniform(0.5), VIDS(), horizon=10), engine="cuda")


def test_specs_know_it():
    study = parse_spec(
        """
        horizon = 10
        censorships.half = { kind = "uniform", observe = 0.5 }
        policies.VIDS = { kind = "vids", observe = "known", draws = 40 }
        [problems.ads]
        kind = "linear"
        theta = [0.5, 0.1]
        actions = { kind = "finite", actions = [[1.0, 0.0], [0.0, 1.0]] }
        """
    )
    assert study.policies["VIDS"] == VIDS(observe="known", draws=40)


def test_a_policy_with_no_kernel_to_choose_is_refused():
    class Nothing(LinearPolicy):
        kind = "nothing"

        def table(self, setting):
            return np.zeros(1)

    with pytest.raises(InvalidInput, match="must have a kernel `index` or `choose`"):
        Nothing().kernels()
