"""The cuda engine against the cpu engine: do they agree, and how fast is the GPU?

Run `python benchmarks/gpu.py` on a machine with an NVIDIA GPU. It needs numpy, scipy, numba,
numba-cuda and pydantic. `--quick` takes small sizes, for a try.
"""

import argparse
import os
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

from halfseen import (
    UCB,
    UCB1,
    ArmedBandit,
    BernoulliThompson,
    EpsilonGreedy,
    FiniteActions,
    GaussianThompson,
    ImputeMean,
    ImputeZero,
    LinearBandit,
    LinThompson,
    LinUCB,
    RandomArms,
    RobustUCB,
    Study,
    Uniform,
)
from halfseen.engine import cpu, cuda


def arms(policy, observe, horizon, replications, count=10, **options):
    problem = ArmedBandit(0.5 - 0.5 * np.arange(count) / count, **options.pop("problem", {}))
    return Study(
        problem, Uniform(observe), policy, horizon, replications, baseline=False, **options
    )


def linear(policy, observe, horizon, replications, dimension=10, count=20, **options):
    rng = np.random.default_rng(1)
    actions = rng.normal(size=(count, dimension))
    actions /= np.linalg.norm(actions, axis=1)[:, None]
    theta = rng.normal(size=dimension)
    theta /= np.linalg.norm(theta)
    problem = LinearBandit(theta, noise=1.0, actions=FiniteActions(actions))
    return Study(
        problem, Uniform(observe), policy, horizon, replications, baseline=False, **options
    )


def blank(study):
    cell = next(study.cells())[1]
    return cell, cell.blank(study.replications, study.arms, study.dimension)


def agreement(name, study):
    """Print how many replications take the same decisions, and how far their sums are apart."""
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

    from halfseen.engine.cuda_kernels import launch

    cell, track = blank(study)
    whole = []
    for _ in range(3):
        started = time.perf_counter()
        precision = cuda.run(cell, track, report=lambda done: None, single=single)
        whole.append(time.perf_counter() - started)
    plan = launch(cell, single)
    rows = min(study.replications, cuda.MOST_ROWS)
    shapes = [(rows, *a.shape[1:]) for a in track.arrays().values()]
    kinds = [a.dtype for a in track.arrays().values()]
    tracks = tuple(device.device_array(s, k) for s, k in zip(shapes, kinds, strict=True))
    room = tuple(device.device_array((*shape, rows), kind) for shape, kind in plan.room)
    parts = (plan.given, room, tracks) if room else (plan.given, tracks)
    kernel = []
    for _ in range(3):
        started = time.perf_counter()
        plan.kernel[-(-rows // plan.threads), plan.threads](0, rows, *parts)
        device.synchronize()
        kernel.append(time.perf_counter() - started)
    shape = plan.kernel
    registers = next(iter(shape.get_regs_per_thread().values()))
    local = next(iter(shape.get_local_mem_per_thread().values()))
    rounds = study.horizon
    print(
        f"{name:36} {precision:6}  kernel {rows * rounds / min(kernel):.3g} rounds/s"
        f"   whole run {study.replications * rounds / min(whole):.3g} rounds/s"
        f"   ({min(whole):.2f} s, mean regret {track.regret[:, -1].mean():.2f};"
        f" {plan.threads} threads, {registers} registers, {local} B local)",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    few, many, horizon = (256, 4096, 1_000) if quick else (20_000, 540_672, 100_000)
    short = {"checkpoints": 10}
    print("Agreement of cuda with cpu, in double precision")
    for observe in (1.0, 0.1):
        agreement(f"UCB, 10 arms, p={observe:g}", arms(UCB(), observe, 5_000, few, **short))
        agreement(f"LinUCB, d=10, K=20, p={observe:g}", linear(LinUCB(), observe, 1_000, few // 4))
    bernoulli = {"problem": {"reward": "bernoulli"}}
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
        "LinThompson, d=5, K=10": linear(LinThompson(), 0.5, 500, few // 4, 5, 10),
        "LinUCB, d=5, K=10, orders 1/2 and 1": linear(
            LinUCB(), 0.5, 500, few // 4, 5, 10, alphas=(0.5, 1.0)
        ),
        "LinUCB, d=20, K=30 (far)": linear(LinUCB(), 0.5, 500, few // 8, 20, 30),
    }.items():
        agreement(name, study)
    print("\nSpeed")
    for observe in (1.0, 0.1):
        for single in (True, False):
            study = arms(UCB(), observe, horizon, many, **short)
            timing(f"UCB, 10 arms, p={observe:g}", study, single)
    for observe in (1.0, 0.1):
        study = linear(LinUCB(), observe, horizon // 100, many // 4, **short)
        timing(f"LinUCB, d=10, K=20, p={observe:g}", study)
    timing("LinUCB, d=20, K=30, p=1", linear(LinUCB(), 1.0, horizon // 200, many // 16, 20, 30))
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
