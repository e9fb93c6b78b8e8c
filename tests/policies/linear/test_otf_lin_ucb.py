"""Optimism for linear bandits that counts every play at once and rewards when they arrive."""

from dataclasses import dataclass

import numpy as np
import pytest

from halfseen import (
    Delayed,
    FiniteActions,
    Fixed,
    GeometricDelay,
    LinearAgent,
    LinearBandit,
    OTFLinUCB,
    PerAction,
    RandomActions,
    Study,
    Uniform,
    simulate,
)
from halfseen.draws import ENVIRONMENT, unit, words
from halfseen.engine.arguments import SHAKE
from halfseen.engine.cells.late_vectors_cell import LateLinearCell
from halfseen.engine.loops.feedback import MEAN
from halfseen.engine.player import blank_track
from halfseen.engine.specialise import compiled, fitted
from halfseen.errors import InvalidInput


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


def one_or_nothing(constants, action, count, stream):
    """Draw a reward of 0 or 1, and what decides its delay."""
    a, b, c, d = words(stream, count, action)
    return (1.0 if unit(a, b) < constants[action, MEAN] else 0.0), unit(c, d)


@dataclass(frozen=True, eq=False)
class ConversionsCell(LateLinearCell):
    """A linear bandit that pays 0 or 1."""

    @property
    def open_names(self):
        return super().open_names | {"dated_feedback": one_or_nothing}


ROWS, THETA = directions(10, 0), np.array([0.6, 0.3, 0.1])


def conversions_cell(form, horizon, window, mean):
    problem = LinearBandit(THETA, 0.5, FiniteActions(ROWS))
    late = Delayed(GeometricDelay(mean), window=window, sends="conversions")
    rounds = np.arange(1, horizon + 1)
    return ConversionsCell(
        problem, late, OTFLinUCB(form, delta=0.1), horizon, 5, rounds, np.zeros(0)
    )


def list_of_messages(cell, replication):
    """Return the regret after every round, with plain NumPy and a list of messages."""
    form, m, horizon = cell.policy.form, cell.censorship.window, cell.horizon
    stream, law = (*cell.key, replication, ENVIRONMENT), cell.censorship.laws
    sent, plays, means = [], np.zeros(10, int), ROWS @ THETA
    total, regret = 0.0, []
    for t in range(1, horizon + 1):
        design, b = np.eye(3), np.zeros(3)
        for _, k, _, _ in sent:
            design += np.outer(ROWS[k], ROWS[k])
        for s, k, reward, delay in sent:
            if reward == 1.0 and delay <= m and s + delay <= t - 1:
                b += ROWS[k]
        inverse = np.linalg.inv(design)
        widths = np.sqrt(np.einsum("ki,ij,kj->k", ROWS, inverse, ROWS))
        radius = np.sqrt(2.0 * np.log(10.0) + 3.0 * np.log(1.0 + t / 3.0))
        young = [message for message in sent if t - 1 - message[0] < m]
        values = ROWS @ inverse @ b
        if form == "printed":
            owed = sum(widths[k] for _, k, _, _ in young)
            values = values + (2.0 * (radius + 1.0) + owed) * widths
        else:
            values = values + (radius / 2.0 + 1.0) * widths
            for s, k, reward, delay in young:
                if not (reward == 1.0 and delay <= m and s + delay <= t - 1):
                    values = values + np.maximum(0.0, ROWS @ inverse @ ROWS[k])
        k = int(np.argmax(values))
        high, low, delay_high, delay_low = words(stream, int(plays[k]), k)
        reward = 1.0 if unit(high, low) < means[k] else 0.0
        sent.append((t, k, reward, law.delay(unit(delay_high, delay_low))))
        plays[k] += 1
        total += means.max() - means[k]
        regret.append(total)
    return regret


@pytest.mark.parametrize("form", ["printed", "one-sided"])
def test_the_loop_agrees_with_a_list_of_messages_and_plain_formulas(form):
    cell = conversions_cell(form, 150, 12, 8)
    track = blank_track(cell, 1)
    loop = fitted(cell.loop, cell.policy.kernels(), **cell.open_names)
    loop(0, 1, cell.world(), cell.workspace(), track)
    assert track.regret[0] == pytest.approx(list_of_messages(cell, 0), abs=1e-9)


@pytest.mark.slow
def test_the_one_sided_form_loses_less_on_conversions_than_the_printed_one():
    final = {}
    for form in ("printed", "one-sided"):
        cell = conversions_cell(form, 3_000, 100, 50)
        track = blank_track(cell, 10)
        loop = compiled(cell.loop, cell.policy.kernels(), **cell.open_names)
        loop(0, 10, cell.world(), cell.workspace(), track)
        final[form] = track.regret[:, -1]
    apart = final["printed"] - final["one-sided"]
    assert apart.mean() > 4.0 * apart.std(ddof=1) / np.sqrt(10)
    assert final["printed"].mean() > 1.4 * final["one-sided"].mean()


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
            lambda: linear(Uniform(1.0), actions=RandomActions(4, 3)),
            "must be offered the same finite set of actions",
        ),
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
