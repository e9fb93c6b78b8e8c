"""The cuda engine against the cpu engine: do they agree, and how fast is the GPU?

Run `python benchmarks/gpu.py` on a machine with an NVIDIA GPU. It needs numpy, scipy, numba,
numba-cuda and pydantic. `--quick` takes small sizes, for a try; `--only actions` takes the rows
whose name holds the word.
"""

import argparse
import os
import resource
import sys
import time
from functools import cache
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

from halfseen import (
    GLMUCB,
    IMED,
    KLUCB,
    UCB,
    UCB1,
    VIDS,
    ArmedBandit,
    BernoulliThompson,
    Delayed,
    EpsilonGreedy,
    FiniteActions,
    GaussianThompson,
    GeneralizedLinearBandit,
    GeometricDelay,
    GLMThompson,
    ImputeMean,
    ImputeZero,
    LinearBandit,
    LinEpsilonGreedy,
    LinThompson,
    LinUCB,
    Logistic,
    MultiThreshold,
    OTFLinUCB,
    QueuedPolicy,
    RandomActions,
    RandomArms,
    RobustUCB,
    SequenceOfActions,
    Study,
    Uniform,
)
from halfseen.engine.backends import cpu
from halfseen.engine.cuda import run as cuda
from halfseen.engine.reduce import Fold


@cache
def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="take small sizes")
    parser.add_argument("--only", default="", help="what a row's name must contain")
    return parser.parse_args()


LATE = Delayed(GeometricDelay(20.0, arrive=0.8), window=100)


def arms(policy, observe, horizon, replications, count=10, **options):
    problem = ArmedBandit(0.5 - 0.5 * np.arange(count) / count, **options.pop("problem", {}))
    return Study(
        problem,
        options.pop("censorship", Uniform(observe)),
        policy,
        horizon=horizon,
        replications=replications,
        baseline=False,
        **options,
    )


def linear(policy, observe, horizon, replications, dimension=10, count=20, **options):
    rng = np.random.default_rng(1)
    fixed = FiniteActions(rng.normal(size=(count, dimension)), normalize=True)
    actions = options.pop("actions", fixed)
    theta = rng.normal(size=dimension)
    theta /= np.linalg.norm(theta)
    link = options.pop("link", None)
    if link is None:
        problem = LinearBandit(theta, noise=1.0, actions=actions)
    else:
        problem = GeneralizedLinearBandit(theta, link=link, actions=actions)
    censorship = options.pop("censorship", Uniform(observe))
    return Study(
        problem,
        censorship,
        policy,
        horizon=horizon,
        replications=replications,
        baseline=False,
        **options,
    )


def contexts(policy, observe, horizon, replications, dimension=10, count=20, **options):
    actions = RandomActions(count, dimension, options.pop("law", "sphere"))
    return linear(
        policy, observe, horizon, replications, dimension, count, actions=actions, **options
    )


def blank(study):
    cell = next(study.cells())[1]
    return cell, cell.blank(study.replications, study.arms, study.dimension)


def agreement(name, study):
    """Print how many replications take the same decisions, and how far their sums are apart."""
    if options().only not in name:
        return
    cell, expected = blank(study)
    _, found = blank(study)
    cpu.run(cell, expected, report=lambda done: None, workers=os.cpu_count())
    started = time.perf_counter()
    cuda.run(cell, found, report=lambda done: None)
    seconds = time.perf_counter() - started
    same = np.ones(study.replications, bool)
    for key in ("pulls", "observations", "optimism_failed", "censoring_failed"):
        pair = expected.arrays()[key] == found.arrays()[key]
        same &= pair.reshape(len(same), -1).all(axis=1)
    lost, lost_here = expected.regret, found.regret
    same &= np.isclose(lost_here, lost, rtol=1e-9, atol=1e-9).all(axis=1)
    apart = max(
        float(np.max(np.abs(a - found.arrays()[key])[same] / np.maximum(1.0, np.abs(a[same]))))
        for key, a in expected.arrays().items()
        if a.dtype.kind == "f" and a.size and same.any()
    )
    print(
        f"{name:44} same decisions {same.mean():9.4%}   sums apart {apart:.1e}"
        f"   with compilation {seconds:5.1f} s",
        flush=True,
    )


def timing(name, study, single=False):
    """Print the best of three whole runs, transfers to the host included, and of the kernel."""
    from numba import cuda as device

    from halfseen.engine.cuda.kernels import launch

    if options().only not in name:
        return
    cell, track = blank(study)
    whole = []
    for _ in range(3):
        started = time.perf_counter()
        precision = cuda.run(cell, track, report=lambda done: None, single=single)
        whole.append(time.perf_counter() - started)
    plan = launch(cell, single)
    rows = min(study.replications, cuda.MOST_ROWS)
    tracks = type(track)._make(device.device_array((rows, *a.shape[1:]), a.dtype) for a in track)
    scratch = {n: device.device_array((*shape, rows), k) for n, (shape, k) in plan.shapes.items()}
    parts = (plan.given, plan.workspace(**scratch), tracks) if scratch else (plan.given, tracks)
    kernel, after = [], []
    for _ in range(3):
        started = time.perf_counter()
        plan.kernel[-(-rows // plan.threads), plan.threads](0, rows, *parts)
        device.synchronize()
        kernel.append(time.perf_counter() - started)
        if plan.finish is not None:
            plan.finish(rows, tracks)
            device.synchronize()
        after.append(time.perf_counter() - started - kernel[-1])
    registers = next(iter(plan.kernel.get_regs_per_thread().values()))
    played, seen = rows * study.horizon, float(track.observations[:, -1].sum(dtype=float))
    print(
        f"{name:38} {precision:6}  {played / min(kernel):.3g} rounds/s,"
        f" {seen * rows / study.replications / min(kernel):.3g} observed"
        f"   designs {min(after) / min(kernel):4.0%} more"
        f"   whole run {study.replications * study.horizon / min(whole):.3g} rounds/s"
        f"   ({min(whole):.2f} s, mean regret {track.regret[:, -1].mean():.2f};"
        f" {plan.threads} threads, {registers} registers)",
        flush=True,
    )


def largest(replications, horizon, single):
    """Print how long it takes to play and summarize more than fits in memory."""
    if options().only not in "summarized":
        return
    cell = next(arms(UCB(), 1.0, horizon, replications, checkpoints=10).cells())[1]
    cuda.played_part(cell, 0, 1_000, report=lambda done: None, single=single)
    started = time.perf_counter()
    fold = Fold()
    for first in range(0, replications, 1 << 22):
        last = min(first + (1 << 22), replications)
        part, precision = cuda.played_part(
            cell, first, last, report=lambda done: None, single=single
        )
        fold.add(part)
    seconds = time.perf_counter() - started
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"UCB, 10 arms, p=1, {fold.count:,} replications of {horizon:,} rounds, summarized,"
        f" {precision}: {seconds:.1f} s, {replications * horizon / seconds:.3g} rounds/s,"
        f" {memory:.2f} GiB on the host, mean regret {fold.arrays()['regret_mean'][-1]:.3f}",
        flush=True,
    )


def late_vectors(few):
    """Return studies of vectors whose feedback comes late, by name."""
    late, sent = (
        {"censorship": LATE},
        Delayed(GeometricDelay(20.0), window=100, sends="conversions"),
    )
    rounds = np.abs(np.random.default_rng(3).normal(size=(51, 6, 4)))
    rounds /= np.linalg.norm(rounds, axis=2, keepdims=True)
    paid = LinearBandit([0.5, 0.4, 0.3, 0.2], actions=FiniteActions(rounds[0]), reward="bernoulli")
    sizes = {"horizon": 500, "replications": few // 4, "baseline": False}
    return {
        "LinUCB, d=10, K=20": linear(LinUCB(), 0.5, 500, few // 4, **late),
        "LinThompson, d=5, K=10": linear(LinThompson(), 0.5, 500, few // 4, 5, 10, **late),
        "LinUCB, rewards 0 or 1": Study(paid, Uniform(0.5), LinUCB(), **sizes),
        "OTFLinUCB, conversions": Study(paid, sent, OTFLinUCB(), **sizes),
        "OTFLinUCB printed, conversions": Study(paid, sent, OTFLinUCB("printed"), **sizes),
        "LinUCB, new actions": contexts(LinUCB(), 0.5, 500, few // 4, **late),
        "LinUCB, given actions": linear(
            LinUCB(), 0.5, 500, few // 4, 4, 6, actions=SequenceOfActions(rounds[1:]), **late
        ),
        "GLMUCB, logistic, d=5, K=10": linear(
            GLMUCB(), 0.5, 300, few // 4, 5, 10, link="logistic", **late
        ),
        "GLMUCB, logistic, conversions": linear(
            GLMUCB(), 0.5, 300, few // 4, 5, 10, link="logistic", censorship=sent
        ),
    }


def main():
    few, many, horizon = (256, 4096, 1_000) if options().quick else (20_000, 540_672, 100_000)
    short = {"checkpoints": 10}
    print("Agreement of cuda with cpu, in double precision")
    for observe in (1.0, 0.1):
        agreement(f"UCB, 10 arms, p={observe:g}", arms(UCB(), observe, 5_000, few, **short))
        agreement(f"LinUCB, d=10, K=20, p={observe:g}", linear(LinUCB(), observe, 1_000, few // 4))
    uneven = linear(LinUCB(regularization=0.3), 0.5, 500, few // 4)
    agreement("LinUCB, d=10, K=20, lambda=0.3", uneven)
    bernoulli = {"problem": {"reward": "bernoulli"}}
    rounds = np.random.default_rng(3).normal(size=(50, 6, 4))
    sequence = SequenceOfActions(rounds, normalize=True)
    some_open = {"problem": {"actions": RandomArms([0.5] * 10)}}
    for name, study in {
        "RobustUCB": arms(RobustUCB(), 0.5, 2_000, few),
        "UCB1": arms(UCB1(), 0.5, 2_000, few),
        "GaussianThompson": arms(GaussianThompson(), 0.5, 2_000, few),
        "BernoulliThompson": arms(BernoulliThompson(), 0.5, 2_000, few, **bernoulli),
        "EpsilonGreedy": arms(EpsilonGreedy(), 0.5, 2_000, few),
        "ImputeZero": arms(ImputeZero(), 0.5, 2_000, few),
        "ImputeMean": arms(ImputeMean(), 0.5, 2_000, few),
        "UCB, random menu": arms(UCB(), 0.5, 2_000, few, **some_open),
        "UCB, 20 arms (64 threads)": arms(UCB(), 0.5, 2_000, few, 20),
        "UCB, 50 arms (32 threads)": arms(UCB(), 0.5, 2_000, few, 50),
        "UCB, 1,000 arms (far)": arms(UCB(), 0.5, 2_000, few // 4, 1_000),
        "KLUCB, Bernoulli": arms(KLUCB(), 0.5, 2_000, few, **bernoulli),
        "IMED, Bernoulli": arms(IMED(), 0.5, 2_000, few, **bernoulli),
        "VIDS, d=5, K=12": linear(VIDS(), 0.5, 500, few // 16, 5, 12),
        "UCB, geometric delays": arms(UCB(), 0.5, 2_000, few, censorship=LATE),
        "QueuedPolicy, geometric delays": arms(QueuedPolicy(), 0.5, 2_000, few, censorship=LATE),
        "LinThompson, d=5, K=10": linear(LinThompson(), 0.5, 500, few // 4, 5, 10),
        "LinUCB, d=5, K=10, orders 1/2 and 1": linear(
            LinUCB(), 0.5, 500, few // 4, 5, 10, alphas=(0.5, 1.0)
        ),
        "LinUCB, d=20, K=30": linear(LinUCB(), 0.5, 500, few // 8, 20, 30),
        "LinUCB, d=30, K=60 (far)": linear(LinUCB(), 0.5, 300, few // 16, 30, 60),
        "LinUCB, d=64, K=1,000 (far)": linear(LinUCB(), 0.5, 100, few // 80, 64, 1_000),
        "LinUCB, new actions": contexts(LinUCB(), 0.5, 500, few // 4),
        "LinThompson, new actions": contexts(LinThompson(), 0.5, 500, few // 4),
        "LinEpsilonGreedy, new actions": contexts(LinEpsilonGreedy(), 0.5, 500, few // 4),
        "LinUCB, Gaussian actions, orders 1/2 and 1": contexts(
            LinUCB(regularization=0.3), 0.5, 300, few // 4, 5, 10, law="gaussian", alphas=(0.5, 1.0)
        ),
        "LinUCB, new actions, d=30 (far)": contexts(LinUCB(), 0.5, 300, few // 16, 30, 10),
        "LinUCB, new actions, two regions": contexts(
            LinUCB(), 0.5, 500, few // 4, 3, censorship=MultiThreshold([0.2], [0.9, 0.3], [1, 0, 0])
        ),
        "LinUCB, new actions, logistic censorship": contexts(
            LinUCB(), 0.5, 500, few // 4, 3, censorship=Logistic([1, 0, 0], 2.0)
        ),
        "LinUCB, given actions": linear(LinUCB(), 0.5, 500, few // 4, 4, 6, actions=sequence),
        "GLMUCB, logistic, d=5, K=10": linear(GLMUCB(), 0.5, 300, few // 4, 5, 10, link="logistic"),
        "GLMThompson, poisson, d=5, K=10": linear(
            GLMThompson(), 0.5, 300, few // 4, 5, 10, link="poisson"
        ),
        "GLMUCB, probit, d=20, K=10": linear(GLMUCB(), 0.5, 100, few // 16, 20, 10, link="probit"),
    }.items():
        agreement(name, study)
    for name, study in late_vectors(few).items():
        agreement(f"late: {name}", study)
    print("\nSpeed")
    for observe in (1.0, 0.1):
        for single in (True, False):
            name = f"UCB, 10 arms, p={observe:g}"
            study = arms(UCB(), observe, horizon, many, alphas=(), **short)
            timing(f"{name}, regret only", study, single)
            timing(name, arms(UCB(), observe, horizon, many, **short), single)
    for single in (True, False):
        largest(many if options().quick else 100_000_000, horizon // 10, single)
    for observe in (1.0, 0.1):
        study = linear(LinUCB(), observe, horizon // 10, many // 8, **short)
        timing(f"LinUCB, d=10, K=20, p={observe:g}", study)
    study = linear(LinUCB(), 1.0, horizon // 50, many // 16, 20, 30, **short)
    timing("LinUCB, d=20, K=30, p=1", study)
    timing("LinThompson, d=10, K=20, p=1", linear(LinThompson(), 1.0, 1_000, many // 8, **short))
    for dimension in (5, 10, 16):
        study = contexts(LinUCB(), 1.0, horizon // 200, many // 8, dimension, **short)
        timing(f"LinUCB, new actions, d={dimension}, K=20, p=1", study)
    timing(
        "LinThompson, new actions, d=10, K=20, p=1",
        contexts(LinThompson(), 1.0, horizon // 200, many // 8, **short),
    )
    timing(
        "LinUCB, new actions, d=30, K=20, p=1",
        contexts(LinUCB(), 1.0, horizon // 1_000, many // 16, 30, **short),
    )
    timing(
        "GLMUCB, logistic, d=5, K=10, p=1",
        linear(GLMUCB(), 1.0, horizon // 200, many // 8, 5, 10, link="logistic", **short),
    )
    timing(
        "GLMUCB, logistic, d=10, K=20, p=0.1",
        linear(GLMUCB(), 0.1, horizon // 200, many // 16, link="logistic", **short),
    )
    timing(
        "GaussianThompson, 10 arms, p=0.5",
        arms(GaussianThompson(), 0.5, horizon // 50, many // 2, **short),
    )
    timing(
        "UCB1, 10 arms, p=0.5",
        arms(UCB1(), 0.5, horizon // 50, many // 2, **short),
    )
    timing(
        "UCB, 1,000 arms, p=0.1", arms(UCB(), 0.1, horizon // 10, many // 64, 1_000, checkpoints=2)
    )


if __name__ == "__main__":
    main()
