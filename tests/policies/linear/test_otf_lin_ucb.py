"""Optimism for linear bandits that counts every play at once and rewards when they arrive."""

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np
import pytest

from halfseen import (
    Delayed,
    FiniteActions,
    Fixed,
    GeometricDelay,
    LinearAgent,
    LinearBandit,
    Logistic,
    OTFLinUCB,
    PerAction,
    RandomActions,
    SequenceOfActions,
    Study,
    Uniform,
    UnitBall,
    simulate,
)
from halfseen.draws import ENVIRONMENT, unit, words
from halfseen.engine.arguments import SHAKE
from halfseen.engine.cells.late_vectors_cell import LateLinearCell
from halfseen.engine.player import blank_track
from halfseen.engine.specialise import compiled, fitted
from halfseen.errors import InvalidInput
from halfseen.kernels.ties import first_largest
from halfseen.policies.linear.otf_lin_ucb import log_radius, whiten
from halfseen.problems.action_sets import fill_normals


def even_rounds_pay(world, action, count, clock, stream):
    """Pay 1 at once in even rounds, else 0, which is not sent."""
    return (1.0 if clock % 2 == 0 else 0.0), 0.0


@dataclass(frozen=True, eq=False)
class ScriptedCell(LateLinearCell):
    @property
    def open_names(self):
        return super().open_names | {"outcome": even_rounds_pay}


@pytest.mark.parametrize(
    ("form", "choices", "theta", "indices"),
    [
        (
            "printed",
            "01010110",
            (0.254617414248, 0.637203166227),
            (4.1972434887, 4.17464459961),
        ),
        (
            "one-sided",
            "00001111",
            (0.430079155673, 0.35092348285),
            (1.51721344186, 1.53094239927),
        ),
    ],
)
@pytest.mark.parametrize(
    "fit",
    [
        pytest.param(fitted, id="plain"),
        pytest.param(compiled, id="compiled", marks=pytest.mark.slow),
    ],
)
def test_a_scripted_world_gives_the_golden_choices_estimate_and_indices(
    form, choices, theta, indices, fit
):
    problem = LinearBandit([0.5, 0.5], 0.5, FiniteActions([[1.0, 0.0], [0.3, 0.7]]))
    late, policy = Delayed(Fixed(0), window=3, sends="conversions"), OTFLinUCB(form, delta=0.1)
    cell = ScriptedCell(problem, late, policy, 9, 0, np.arange(1, 10), np.zeros(0))
    work, track = cell.workspace(), blank_track(cell, 1)
    fit(cell.loop, policy.kernels(), **cell.open_names)(0, 1, cell.world(), work, track)
    found = "".join(map(str, np.diff(track.pulls[0, :, 1], prepend=0)))
    assert found[:8] == choices
    assert work.own.vectors[SHAKE] == pytest.approx(theta, rel=1e-10)
    assert work.own.memory[:2] == pytest.approx(indices, rel=1e-10)


def directions(count, seed):
    """Return vectors of different lengths with coordinates from 0 to 1: means lie in [0, 1]."""
    rows = np.abs(np.random.default_rng(seed).normal(size=(count, 3)))
    lengths = np.linspace(0.6, 1.0, count)[:, None]
    return lengths * rows / np.linalg.norm(rows, axis=1, keepdims=True)


ROWS, THETA = directions(10, 0), np.array([0.6, 0.3, 0.1])
ROUNDS = np.stack([directions(10, seed) for seed in range(1, 8)])


def offered(cell, t):
    """Return the actions of a round."""
    return ROWS if cell.same_actions else ROUNDS[(t - 1) % len(ROUNDS)]


def conversions_study(policies, horizon, window, mean, actions=None, **options):
    actions = FiniteActions(ROWS) if actions is None else actions
    problem = LinearBandit(THETA, actions=actions, reward="bernoulli")
    late = Delayed(GeometricDelay(mean), window=window, sends="conversions")
    given = {"replications": 1, "baseline": False, "seed": 5} | options
    return Study(problem, late, policies, horizon=horizon, **given)


def list_of_messages(cell, replication):
    """Return the regret after every round, with plain NumPy and a list of messages."""
    form, m, horizon = cell.policy.form, cell.censorship.window, cell.horizon
    stream, law = (*cell.key, replication, ENVIRONMENT), cell.censorship.laws
    sent, plays = [], np.zeros(10, int)
    total, regret = 0.0, []
    for t in range(1, horizon + 1):
        design, b, rows = np.eye(3), np.zeros(3), offered(cell, t)
        for _, action, _, _ in sent:
            design += np.outer(action, action)
        for s, action, reward, delay in sent:
            if reward == 1.0 and delay <= m and s + delay <= t - 1:
                b += action
        inverse = np.linalg.inv(design)
        widths = np.sqrt(np.einsum("ki,ij,kj->k", rows, inverse, rows))
        radius = np.sqrt(2.0 * np.log(10.0) + 3.0 * np.log(1.0 + t / 3.0))
        young = [message for message in sent if t - 1 - message[0] < m]
        values = rows @ inverse @ b
        if form == "printed":
            owed = sum(np.sqrt(action @ inverse @ action) for _, action, _, _ in young)
            values = values + (2.0 * (radius + 1.0) + owed) * widths
        else:
            values = values + (radius / 2.0 + 1.0) * widths
            for s, action, reward, delay in young:
                if not (reward == 1.0 and delay <= m and s + delay <= t - 1):
                    values = values + np.maximum(0.0, rows @ inverse @ action)
        k, means = int(np.argmax(values)), rows @ THETA
        place = (int(plays[k]), k) if cell.same_actions else (t, 0)
        high, low, delay_high, delay_low = words(stream, *place)
        reward = 1.0 if unit(high, low) < means[k] else 0.0
        sent.append((t, rows[k], reward, law.delay(unit(delay_high, delay_low))))
        plays[k] += 1
        total += means.max() - means[k]
        regret.append(total)
    return np.array(regret)


@pytest.mark.parametrize("actions", [None, SequenceOfActions(ROUNDS)], ids=["fixed", "changing"])
@pytest.mark.parametrize("form", ["printed", "one-sided"])
def test_the_loop_agrees_with_a_list_of_messages_and_plain_formulas(form, actions):
    policy = OTFLinUCB(form, delta=0.1)
    study = conversions_study(policy, 150, 12, 8, actions, checkpoints=150, replications=2)
    _, cell = next(study.cells())
    found = simulate(study, engine="reference").tracks["regret"][0, 0, 0]
    for replication in range(2):
        expected = list_of_messages(cell, replication)[study.rounds_recorded - 1]
        assert found[replication] == pytest.approx(expected, abs=1e-9)


def test_no_delay_equals_seeing_everything_where_actions_change():
    problem = LinearBandit(THETA, 0.2, RandomActions(4, 3))
    prompt = {"seen": Uniform(1.0), "at once": Delayed(Fixed(0), window=0)}
    study = Study(problem, prompt, OTFLinUCB(), horizon=60, replications=2)
    data = simulate(study, engine="reference").data
    assert np.array_equal(data.regret.sel(censorship="seen"), data.regret.sel(censorship="at once"))
    assert (data.observations == data.pulls).all()


@pytest.mark.slow
@pytest.mark.parametrize("actions", [None, SequenceOfActions(ROUNDS)], ids=["fixed", "changing"])
def test_otf_lin_ucb_plays_alike_plain_and_compiled(actions):
    policies = {form: OTFLinUCB(form) for form in ("printed", "one-sided")}
    study = conversions_study(policies, 120, 12, 8, actions)
    plain, fast = (simulate(study, engine=engine).tracks for engine in ("reference", "cpu"))
    for name, array in plain.items():
        assert np.array_equal(array, fast[name]), name


def without_delays(rows, known, memory, clock, stream, table):
    """Choose by the one-sided index without what is owed to open decisions."""
    count, d = rows.shape
    radius = 0.5 * log_radius(clock, d, table) + math.sqrt(table[1])
    for k in range(count):
        mean = 0.0
        for i in range(d):
            mean += rows[k, i] * known.estimate[i]
        memory[k] = mean + radius * whiten(known.factor, rows[k], memory[count:])
    return first_largest(memory[:count])


def sampled(rows, known, memory, clock, stream, table):
    """Choose by a draw from N(estimate, V^-1/4)."""
    count, d = rows.shape
    fill_normals(stream, clock, 0, memory[count : count + d])
    for k in range(count):
        memory[k] = 0.0
        for i in range(d):
            draw = known.estimate[i]
            for j in range(i + 1):
                draw += 0.5 * known.factor[i, j] * memory[count + j]
            memory[k] += rows[k, i] * draw
    return first_largest(memory[:count])


@dataclass(frozen=True)
class WithoutDelays(OTFLinUCB):
    kind: ClassVar[str] = "without-delays"
    choose = staticmethod(without_delays)


@dataclass(frozen=True)
class Sampled(OTFLinUCB):
    kind: ClassVar[str] = "otf-sampled"
    choose = staticmethod(sampled)


@pytest.mark.slow
def test_linear_conversions_cost_less_one_sided_than_printed_and_least_without_a_delay_term():
    policies = {
        "printed": OTFLinUCB("printed", delta=0.1),
        "one-sided": OTFLinUCB(delta=0.1),
        "no delay term": WithoutDelays(delta=0.1),
        "sampled": Sampled(),
    }
    study = conversions_study(policies, 3_000, 100, 50, replications=10)
    final = simulate(study).tracks["regret"][0, 0, :, :, -1]
    for worse, better in pairwise(final):
        apart = worse - better
        assert apart.mean() > 4.0 * apart.std(ddof=1) / np.sqrt(10)
    # The how-to shows these figures, with their standard errors.
    assert final.mean(axis=1).round().tolist() == [331, 144, 92, 39]
    assert (final.std(axis=1, ddof=1) / np.sqrt(10)).round().tolist() == [5, 9, 4, 4]


def linear(censorship, policy=None, actions=None):
    problem = LinearBandit(THETA, 0.2, FiniteActions(ROWS) if actions is None else actions)
    return Study(problem, censorship, policy or OTFLinUCB(), horizon=60, replications=2)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: OTFLinUCB("both"), "`OTFLinUCB.form` must be one of printed, one-sided"),
        (lambda: OTFLinUCB(delta=0.0), "`OTFLinUCB.delta`"),
        (lambda: linear(Delayed(Fixed(3))), "OTFLinUCB` must be played with a window"),
        (
            lambda: linear(Logistic([1.0, 0.0, 0.0], 2.0), actions=RandomActions(4, 3)),
            "must be Uniform or Delayed where actions change and the policy counts plays",
        ),
        (lambda: linear(Delayed(Fixed(3), window=5), actions=UnitBall(3)), "`on_ball` kernel"),
        (lambda: LinearAgent(OTFLinUCB(), 2), "must be one that learns observed rewards alone"),
    ],
)
def test_what_does_not_fit_otf_lin_ucb_is_refused_with_a_sentence(make, message):
    with pytest.raises(InvalidInput, match=message):
        make()


def test_plays_are_counted_under_every_censorship_of_a_fixed_set():
    censorships = {
        "seen": Uniform(1.0),
        "at once": Delayed(Fixed(0), window=0),
        "some": PerAction(np.linspace(0.1, 1.0, 10)),
    }
    data = simulate(linear(censorships), engine="reference").data
    assert np.array_equal(data.pulls.sel(censorship="seen"), data.pulls.sel(censorship="at once"))
    some = data.sel(censorship="some").isel(checkpoint=-1)
    assert some.lost.sum() > 0
    assert some.pending.sum() == 0
