"""The cuda engine plays what the others play, on numba's simulator of a GPU.

The simulator must be asked for before numba is imported, so these checks run in a process of their
own: one for all, since importing is what takes the time.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from example_studies import small_study

from halfseen import (
    GLMUCB,
    UCB,
    AnyFunction,
    ArmedBandit,
    GeneralizedLinearBandit,
    InvalidInput,
    LinearBandit,
    LinUCB,
    RandomActions,
    SampledActions,
    Study,
    Uniform,
    UnitBall,
    simulate,
)
from halfseen.engine.cuda import run as cuda
from halfseen.studies.simulate import choose_engine

SIMULATED = r"""
import math
import sys
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from example_studies import BINARY_POLICIES, EVERY_ACTION_SET, EVERY_POLICY, MEANS

from halfseen import (
    UCB, VIDS, AnyFunction, ArmedBandit, ConversionUCB, Delayed, EmpiricalDelay, FiniteActions,
    Fixed, GeneralizedLinearBandit, GeometricDelay, GLMUCB, ImputeZeroLinUCB, LinearBandit,
    LinThompson, LinUCB, Link, Logistic, LogNormalDelay, MultiThreshold, OTFLinUCB, ParetoDelay,
    PerArm, RandomActions,
    RewardDependent, RewardLaw, SequenceOfActions, Study, Uniform, WithCovariate,
    simulate, summarize
)
from halfseen.draws import uniform
from halfseen.studies.machine import examine
from halfseen.engine.cuda import run as cuda
from halfseen.engine.cuda import contexts as cuda_contexts
from halfseen.engine.cuda import reduce as cuda_fold
from halfseen.engine.cuda import kernels as cuda_kernels
from halfseen.engine.cuda import launch as cuda_launch
from halfseen.engine.backends import reference
from halfseen.engine.reduce import Fold, Part
from halfseen.engine.cuda import compile as cuda_compile
from halfseen.policies import GLM_POLICIES, LINEAR_POLICIES


class Told(dict):
    # Exchanged functions, by name, and those of them that a loop reached.
    known, reached = set(), set()

    def __or__(self, other):
        return Told(dict(self) | other)

    def get(self, code, other):
        Told.known |= {exchanged.co_qualname for exchanged in self}
        if code in self:
            Told.reached.add(code.co_qualname)
        return dict.get(self, code, other)


cuda_compile.ALWAYS = Told(cuda_compile.ALWAYS)

def double_or_nothing(table, arm, count, stream):
    return 2.0 * table[arm, 0] if uniform(stream, count, arm) < 0.5 else 0.0


@dataclass(frozen=True)
class Coin(RewardLaw):
    kind: ClassVar[str] = "coin"
    draw = staticmethod(double_or_nothing)


def one_by_one(study):
    # The simulator lends a function its `cuda.local` while a thread is in it and takes it back from
    # all threads at once, so only one may be at work.
    compare(study, most_rows=1)


def compare(study, **options):
    for _, cell in study.cells():
        sizes = (study.replications, cell.groups, getattr(cell.problem, "dimension", 0))
        expected, found = cell.blank(*sizes), cell.blank(*sizes)
        done = []
        reference.run(cell, expected, report=done.append, workers=1)
        done.clear()
        cuda.run(cell, found, report=done.append, **options)
        assert sum(done) == study.replications
        for name, array in expected.arrays().items():
            other = found.arrays()[name]
            if array.dtype.kind == "i":
                assert np.array_equal(array, other), (name, cell)
            else:
                assert np.allclose(array, other, rtol=1e-11, atol=1e-11), (name, cell)


some = PerArm([0.3, 0.9, 1.0])
problems = {"all": ArmedBandit(MEANS, reward="bernoulli")} | {
    kind: ArmedBandit(MEANS, reward="bernoulli", actions=actions)
    for kind, actions in EVERY_ACTION_SET.items()
}
sizes = {"replications": 2, "checkpoints": 4, "seed": 4, "baseline": True}
compare(Study(problems, some, EVERY_POLICY, horizon=15, **sizes))
binary = {*BINARY_POLICIES, "conversion-ucb", "stratified-ucb", "proxy-ucb"}
gaussian = {k: p for k, p in EVERY_POLICY.items() if k not in binary}
others = {r: ArmedBandit(MEANS, reward=r, noise=0.3) for r in ("gaussian", "uniform", "rademacher")}
compare(Study(others, some, gaussian, horizon=12, alphas=(), **sizes))
laws = {r: ArmedBandit([1.0, 12.0, 0.5], reward=r) for r in ("poisson", "exponential", "student-t")}
laws["own"] = ArmedBandit([1.0, 12.0, 0.5], reward=Coin())
compare(Study(laws, some, {"ucb": UCB(), "ucb1": EVERY_POLICY["ucb1"]}, horizon=12, **sizes))
late = {
    "all": Delayed([GeometricDelay(3), ParetoDelay(0.7, 2, arrive=0.6), Fixed(2)], window=6),
    "conversions": Delayed(LogNormalDelay(3, 1.5), window=5, sends="conversions"),
    "no window": Delayed(EmpiricalDelay([0, 4, 30], arrive=0.8)),
}
several = {k: EVERY_POLICY[k] for k in ("ucb", "imed", "queued", "hopeful-ucb", "impute-zero")}
several["known"] = ConversionUCB(EmpiricalDelay([0, 1]))
def largest_first(reward, arm):
    return 0.8 if reward > 0.5 else 0.3 + 0.1 * arm
hidden = {
    "table": RewardDependent([{0: 0.8, 1: 0.3}, 0.5, {0: 0.0, 1: 1.0}]),
    "function": RewardDependent(largest_first),
}
compare(Study(ArmedBandit(MEANS, reward="bernoulli"), hidden, EVERY_POLICY, horizon=15, **sizes))
told = WithCovariate([[[0.7, 0.3], [0.2, 0.8]]] * 3, [[[0.8, 0.3]] * 2, 0.5, [0.9, 0.4]])
both_told = {k: EVERY_POLICY[k] for k in ("stratified-ucb", "proxy-ucb")}
compare(Study(ArmedBandit(MEANS, reward="bernoulli"), told, both_told, horizon=15, **sizes))
hidden["table"] = RewardDependent({"intercept": 0.0, "slope": 1.0})
compare(Study(ArmedBandit(MEANS), hidden, UCB(), horizon=12, **sizes))
compare(Study(ArmedBandit(MEANS, reward="bernoulli"), late, several, horizon=25, **sizes))
print("arms")

many = ArmedBandit(np.linspace(0, 1, 70))
study = Study(many, Uniform(0.5), UCB(), horizon=90, alphas=(1.3,), **sizes)
assert cuda_kernels.launch(next(study.cells())[1]).shapes, "70 arms do not fit in shared memory"
compare(study)
print("many arms")

actions = np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0], [-0.5, 0.5]])
linear = LinearBandit([0.6, 0.4], noise=0.5, actions=FiniteActions(actions))
policies = {k: policy() for k, policy in LINEAR_POLICIES.items() if policy.choose is None}
one_by_one(Study(linear, Uniform(0.5), policies, horizon=25, alphas=(0.5, 1.0), **sizes))
one_by_one(Study(linear, Uniform(0.5), VIDS(draws=6), horizon=25, **sizes))
study = Study(linear, Uniform(0.5), LinUCB(), horizon=25, **sizes)
assert not cuda_kernels.launch(next(study.cells())[1]).shapes
one_by_one(study)
cuda_launch.SHARED = 0
assert cuda_kernels.launch(next(study.cells())[1]).shapes
one_by_one(study)
cuda_launch.SHARED = 48 * 1024
print("linear")

sizes |= {"checkpoints": 2}
blind = {kind: policy for kind, policy in policies.items() if not policy.knows_observe}
drawn = LinearBandit([0.6, 0.4, 0.1], noise=0.5, actions=RandomActions(4, 3))
plain = LinearBandit([0.6, 0.4], noise=0.5, actions=RandomActions(3, 2, "gaussian"))
lines = {
    "cut": MultiThreshold([0.1], [0.9, 0.3], [1.0, 0.0, 0.0]),
    "curve": Logistic([1.0, 0.0, 0.0], 2.0),
}
rounds = np.random.default_rng(1).normal(size=(7, 4, 3))
given = LinearBandit([0.6, 0.4, 0.1], actions=SequenceOfActions(rounds, normalize=True))
function = AnyFunction(lambda action: 0.5 + 0.4 * float(action[0]))
studies = [
    Study(drawn, Uniform(0.6), blind, horizon=12, alphas=(0.5, 1.0), **sizes),
    Study(drawn, lines, LinUCB(), horizon=12, **sizes),
    Study(
        {"drawn": plain, "fixed": linear},
        Uniform(0.5),
        LinThompson(),
        horizon=12,
        alphas=(),
        **sizes,
    ),
    Study(given, {"any": function} | lines, LinUCB(), horizon=12, **sizes),
]
for study in studies:
    one_by_one(study)
cuda_contexts.LOCAL = 0
assert cuda_kernels.launch(next(studies[0].cells())[1]).shapes
one_by_one(studies[0])
print("contexts")


def steep(z):
    return 0.5 + math.atan(z) / math.pi


def steepness(z):
    return 1.0 / (math.pi * (1.0 + z * z))


own = Link("own", steep, steepness, reward="bernoulli")
curved = {
    str(link): GeneralizedLinearBandit([0.6, 0.4], link=link, actions=FiniteActions(actions))
    for link in ("logistic", "poisson", "probit", "identity", own)
}
everything = {kind: policy() for kind, policy in GLM_POLICIES.items()}
sizes |= {"alphas": (0.5, 1.0)}
logistic = curved["logistic"]
one_by_one(Study(logistic, Uniform(0.5), everything, horizon=25, **sizes))
del sizes["alphas"]
one_by_one(Study(curved, Uniform(0.5), GLMUCB(), horizon=20, **sizes))
print("glm")

own_laws = [GeometricDelay(3), ParetoDelay(0.7, 2), Fixed(2, arrive=0.5), Fixed(0)]
late = {
    "all": Delayed(own_laws, window=6),
    "no window": Delayed(EmpiricalDelay([0, 4, 30], arrive=0.8)),
}
eager = {"ucb": LinUCB(), "zero": ImputeZeroLinUCB(), "own": VIDS(draws=6), "ts": LinThompson()}
counting = {form: OTFLinUCB(form) for form in ("printed", "one-sided")}
paid = LinearBandit([0.6, 0.4], actions=FiniteActions(np.abs(actions)), reward="bernoulli")
sent = Delayed(LogNormalDelay(3, 1.5), window=5, sends="conversions")
one_by_one(Study(linear, late, eager, horizon=25, alphas=(0.5, 1.0), **sizes))
one_by_one(Study(paid, {"sent": sent, "part": Uniform(0.5)}, counting, horizon=25, **sizes))
one_by_one(Study(paid, Uniform(0.5), LinUCB(), horizon=25, **sizes))
one_by_one(Study(logistic, late | {"sent": sent}, everything, horizon=20, **sizes))
late["all"] = Delayed(GeometricDelay(3, arrive=0.9), window=6)
blind = {"ucb": LinUCB(), "zero": ImputeZeroLinUCB()}
one_by_one(Study({"drawn": drawn, "given": given}, late, blind, horizon=12, **sizes))
print("late vectors")

study = Study(problems["all"], some, UCB(), horizon=200, replications=7, seed=1)
tracks = []
for rows in (7, 3, 1):
    cell = next(study.cells())[1]
    tracks.append(cell.blank(7, 3, 0))
    batches = []
    cuda.run(cell, tracks[-1], report=batches.append, most_rows=rows)
    assert max(batches) == rows
for other in tracks[1:]:
    for name, array in tracks[0].arrays().items():
        assert np.array_equal(array, other.arrays()[name]), name
print("batches")

both = {"a": UCB(), "b": EVERY_POLICY["ucb1"]}
summed = Study(problems["all"], some, both, horizon=30, replications=21, checkpoints=3)
for rows in (cuda_fold.ROWS, 4):
    cuda_fold.ROWS = rows
    here, there = (summarize(summed, engine=engine) for engine in ("reference", "cuda"))
    for position, _ in summed.cells():
        for name, array in here.arrays[position].items():
            other = there.arrays[position][name]
            assert np.allclose(array, other, rtol=1e-12, atol=1e-12), (name, position)
one = next(summed.cells())[1]
track = one.blank(21, 3, 0)
cuda.run(one, track, report=print, start=6)
expected = Fold()
expected.add(Part.of(track, 6))
found = Fold()
found.add(cuda.played_part(one, 6, 27, report=print, most_rows=8)[0])
for name, array in expected.arrays().items():
    assert np.array_equal(array, found.arrays()[name]), name
assert found.moments.keys() == expected.moments.keys()
print("summaries")

rounds, rows = 300, 60
study = Study(ArmedBandit(MEANS), some, UCB(), horizon=rounds, replications=rows, baseline=False)
double = simulate(study, engine="cuda")
single = simulate(study, engine="cuda", precision="single")
assert [f["precision"] for f in single.facts.values()] == ["single"]
assert [f["precision"] for f in double.facts.values()] == ["double"]
apart = [r.tracks["regret"][0, 0, 0, :, -1] for r in (double, single)]
error = np.sqrt(sum(a.var() / a.size for a in apart))
assert abs(apart[0].mean() - apart[1].mean()) < 5 * error
assert not np.array_equal(*apart)
assert np.all(single.tracks["pulls"][0, 0, 0, :, -1].sum(axis=-1) == rounds)
for policy, horizon in ((EVERY_POLICY["gaussian-thompson"], 10), (UCB(), 2**25)):
    cell = next(Study(ArmedBandit(MEANS), some, policy, horizon=horizon).cells())[1]
    assert cuda_kernels.launch(cell, True).precision == "double"
assert examine().gpu == "simulated"
print("precision")
assert len(Told.known) >= 10, Told.known
assert Told.known == Told.reached, f"never used on a GPU: {Told.known - Told.reached}"
print("overrides")
"""


@pytest.fixture(scope="module")
def printed():
    """Return what the checks on the simulator printed before they ended."""
    paths = [str(Path(__file__).parents[1]), *sys.path]
    ended = subprocess.run(
        [sys.executable, "-c", SIMULATED],
        capture_output=True,
        text=True,
        timeout=300,
        env=os.environ | {"NUMBA_ENABLE_CUDASIM": "1", "PYTHONPATH": os.pathsep.join(paths)},
    )
    return ended.stdout.split("\n"), ended.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    "part",
    [
        "arms",
        "many arms",
        "linear",
        "contexts",
        "glm",
        "late vectors",
        "batches",
        "summaries",
        "precision",
        "overrides",
    ],
)
def test_on_the_simulator(printed, part):
    lines, errors = printed
    assert part in lines, errors


def linear(actions):
    return LinearBandit([0.5, 0.2], actions=actions)


def own_sampler(rng, clock):
    return rng.uniform(-0.5, 0.5, size=(3, 2))


@pytest.mark.parametrize(
    ("problem", "policy", "censorship", "what"),
    [
        (linear(UnitBall(2)), LinUCB(), Uniform(0.5), "linear bandits with UnitBall"),
        (
            linear(SampledActions(own_sampler, 3, 2)),
            LinUCB(),
            Uniform(0.5),
            "linear bandits with SampledActions",
        ),
        (
            linear(RandomActions(3, 2)),
            LinUCB(),
            AnyFunction(lambda action: 0.5),
            "RandomActions under a censorship that is a Python function",
        ),
        (
            GeneralizedLinearBandit([0.5, 0.2], actions=RandomActions(3, 2)),
            GLMUCB(),
            Uniform(0.5),
            "generalized linear bandits with RandomActions",
        ),
    ],
    ids=["ball", "sampler", "function", "glm"],
)
def test_what_cannot_be_played_is_refused_before_anything_runs(
    tmp_path, problem, policy, censorship, what
):
    study = Study(problem, censorship, policy, horizon=10, replications=1)
    with pytest.raises(InvalidInput, match=f"cannot play {what}.* Use the cpu engine"):
        simulate(study, engine="cuda", out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_without_a_gpu_the_sentence_says_what_to_do(monkeypatch):
    monkeypatch.setattr("numba.cuda.is_available", lambda: False)
    with pytest.raises(InvalidInput, match=r"halfseen\[cuda\].* or use the cpu engine"):
        simulate(small_study(), engine="cuda")


def test_single_precision_is_for_the_gpu():
    with pytest.raises(InvalidInput, match="`precision` must be double on the cpu engine"):
        simulate(small_study(), precision="single")
    with pytest.raises(InvalidInput, match="`precision`"):
        simulate(small_study(), precision="half")


def large(problem, policy, horizon=10**7):
    return Study(problem, Uniform(0.5), policy, horizon=horizon, replications=10_000)


def test_auto_takes_the_gpu_for_what_is_large_and_possible(monkeypatch):
    arms = ArmedBandit([0.6, 0.5])
    assert choose_engine(large(arms, UCB(), 100))[0] == "cpu"
    monkeypatch.setattr(cuda, "device", lambda: None)
    assert choose_engine(large(arms, UCB())) == ("cuda", "a GPU was found and the study is large")
    ball = choose_engine(large(linear(UnitBall(2)), LinUCB()))
    assert ball == ("cpu", "the cuda engine cannot play linear bandits with UnitBall")

    def missing():
        raise InvalidInput("engine", "needs a GPU", "cuda", "Use the cpu engine.")

    monkeypatch.setattr(cuda, "device", missing)
    assert choose_engine(large(arms, UCB())) == ("cpu", "no GPU was found")


@pytest.mark.slow
def test_auto_gives_the_numbers_of_the_engine_it_takes():
    study = small_study()
    auto, cpu = simulate(study, engine="auto"), simulate(study)
    assert all(np.array_equal(auto.tracks[name], cpu.tracks[name]) for name in cpu.tracks)
    assert {facts["engine"] for facts in auto.facts.values()} == {"cpu"}
