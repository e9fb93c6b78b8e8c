"""Claims about feedback that comes late."""

from __future__ import annotations

import math

import numpy as np

from halfseen.censorship import Delayed, PerArm
from halfseen.claims.claim import Comparison, Evidence, claim
from halfseen.claims.intervals import mean
from halfseen.claims.laboratory import Laboratory
from halfseen.policies import UCB, RandomChoice
from halfseen.problems import ArmedBandit, GeometricDelay, ParetoDelay
from halfseen.theory import regret_bounds

FAMILY = "late feedback"
ARMS = ArmedBandit([0.6, 0.5, 0.4], reward="bernoulli")
SLOW, QUICK = ParetoDelay(0.7, 20, arrive=0.6), GeometricDelay(5, arrive=0.9)


def slow_arrived(delay: int) -> float:
    """Return the distribution function of the slow law, in explicit form."""
    return 0.6 * (1.0 - (1.0 + (delay + 1) / 20.0) ** -0.7)


def quick_arrived(delay: int) -> float:
    """Return the distribution function of the quick law, in explicit form."""
    return 0.9 * (1.0 - (5.0 / 6.0) ** (delay + 1))


@claim(
    "late-dimension",
    place="new",
    family=FAMILY,
    says="With a window of m rounds a share 1 − p_a(m) of the decisions older than the window is"
    " lost, so that the effective dimension is D(m) = Σ 1/p_a(m); younger decisions have"
    " arrived with probability τ_a(age).",
    how="Three arms played at random, a slow and two quick delay laws, two windows: rewards arrived"
    " and decisions lost, arm by arm, against sums of the laws.",
)
def late_dimension(lab: Laboratory) -> Evidence:
    """Compare arrived and lost rewards with the delay laws."""
    horizon, runs = lab.size(2000, 10_000), lab.size(200, 2000)
    rows = []
    for window in (20, 200):
        late = Delayed([SLOW, QUICK, QUICK], window=window)
        played = lab.play(ARMS, late, RandomChoice(), horizon, runs).tracks
        seen, pulls, pending = (
            played[name][:, -1].astype(float) for name in ("observations", "pulls", "pending")
        )
        for arm, arrived in enumerate((slow_arrived, quick_arrived)):
            in_hand = sum(arrived(min(age, window)) for age in range(horizon)) / 3.0
            lost = (horizon - window) / 3.0 * (1.0 - arrived(window))
            gone = (pulls - seen - pending)[:, arm]
            where = f"m = {window}, arm {arm}"
            rows.append(Comparison(f"{where}, in hand", mean(seen[:, arm]), "equals", in_hand))
            rows.append(Comparison(f"{where}, lost", mean(gone), "equals", lost))
    return Evidence(tuple(rows))


@claim(
    "late-regret",
    place="new",
    family=FAMILY,
    says="The regret of UCB with late feedback is at most its bound without delays plus"
    " Σ Δ_a g_a/p_a, where g_a log(g_a/μ_a) − g_a + μ_a = 3 log T and μ_a is the mean number of"
    " outstanding rewards; at most g_a rewards are ever outstanding.",
    how="UCB on three arms with geometric delays of 5 and 50 rounds: regret against the bound, and"
    " the largest number of outstanding rewards of an arm over many rounds.",
)
def late_regret(lab: Laboratory) -> Evidence:
    """Compare regret and outstanding rewards with their bounds."""
    horizon, runs, window = lab.size(5000, 30_000), lab.size(100, 1000), 1000
    rows = []
    for delay in (5.0, 50.0):
        late = Delayed(GeometricDelay(delay), window=window)
        played = lab.play(ARMS, late, UCB(), horizon, runs, checkpoints=200)
        seen = 1.0 - (delay / (1.0 + delay)) ** (window + 1)
        most = _most(delay, 3.0 * math.log(horizon))
        without = regret_bounds(ARMS, PerArm([seen] * 3), UCB(), horizon)["instance"].value
        bound = without + float(np.sum(ARMS.gaps)) * most / seen + 0.6 / horizon
        under_way = played.tracks["pending"].max(axis=(1, 2)).astype(float)
        where = f"mean delay {delay:g}"
        rows.append(Comparison(f"{where}, regret", mean(played.regret), "at most", bound))
        rows.append(Comparison(f"{where}, under way", mean(under_way), "at most", most))
    return Evidence(tuple(rows))


def _most(mean_number: float, level: float) -> float:
    """Return the largest q with q log(q/mu) - q + mu <= level, by bisection."""
    low, high = mean_number, mean_number + level + math.sqrt(2.0 * level * (mean_number + level))
    for _ in range(200):
        q = 0.5 * (low + high)
        if q * math.log(q / mean_number) - q + mean_number <= level:
            low = q
        else:
            high = q
    return low
