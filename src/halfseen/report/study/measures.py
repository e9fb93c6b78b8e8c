"""Means and intervals over replications: the only numbers in pages and charts."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfseen.censorship.smallest import smallest_observe
from halfseen.checks import Vector
from halfseen.studies.result import Result
from halfseen.studies.student_intervals import MeanInterval, mean_interval
from halfseen.studies.study import Study
from halfseen.theory import effective_dimension

Position = tuple[int, int, int]
ROWS = 8_000  # rows of data in all charts together, to keep the page small
ARMS = 30  # drawn at most per problem
PROBLEMS, CENSORSHIPS, POLICIES, ORDERS = 6, 9, 14, 2  # drawn at most
PANELS = 18  # panels of curves over all problems, at most


@dataclass(frozen=True)
class Place:
    """One cell of a study: its position, its names, problem, censorship and policy."""

    position: Position
    names: tuple[str, str, str]
    problem: Any
    censorship: Any
    policy: Any

    @property
    def triple(self) -> tuple[Any, Any, Any]:
        """The problem, the censorship and the policy."""
        return self.problem, self.censorship, self.policy

    @property
    def seen(self) -> Any:
        """What the policy sees of the censorship: no covariate if it does not observe it."""
        return self.censorship.seen_by(self.policy)

    @property
    def linear(self) -> bool:
        """True for a linear or generalized linear bandit."""
        return bool(self.problem.linear)

    @property
    def generalized(self) -> bool:
        """True for a generalized linear bandit."""
        return bool(self.problem.generalized)

    @property
    def observe(self) -> Vector:
        """How likely each playable arm's reward is to be seen."""
        return self.censorship.rates(self.problem)[self.problem.playable]

    @property
    def chances(self) -> Vector:
        """How likely playing each arm is to bring feedback; NaN where that is not known."""
        return self.censorship.message_rates(self.problem)

    @property
    def arms(self) -> int:
        """The number of playable arms; of a linear bandit the number of dimensions."""
        if self.linear:
            return int(self.problem.dimension)
        return len(self.problem.playable)

    @property
    def dimension(self) -> float:
        """The effective dimension; of a linear bandit its worst case, d over the smallest p."""
        if self.censorship.depends_on_reward:
            return math.nan
        if self.linear:
            least = smallest_observe(self.problem, self.censorship)
            return float(self.problem.dimension / least)
        return effective_dimension(self.observe)


def final_regret(result: Result, position: Position) -> MeanInterval:
    """Return the regret of a cell at the horizon."""
    return mean_interval(result.tracks["regret"][position][:, -1])


def change_of_regret(result: Result, before: Position, after: Position) -> MeanInterval:
    """Return how much larger the regret is after than before, paired on the same draws."""
    final = result.tracks["regret"][..., -1]
    return mean_interval(final[after] - final[before])


def share_seen(result: Result, position: Position) -> float:
    """Return the share of rounds whose reward was observed."""
    seen = result.tracks["observations"][position][:, -1].sum(axis=-1, dtype=float)
    return float(seen.mean() / result.study.horizon)


def baseline_of(study: Study) -> int | None:
    """Return the number of the first censorship under which everything is seen."""
    whole = (j for j, c in enumerate(study.censorships.values()) if c.sees_everything)
    return next(whole, None)


def places(study: Study, problem: int | None = None) -> Iterator[Place]:
    """Yield every combination of a study, or those of one problem."""
    for i, (first, bandit) in enumerate(study.bandits.items()):
        if problem is not None and problem != i:
            continue
        for j, (second, censorship) in enumerate(study.censorships.items()):
            for k, (third, policy) in enumerate(study.policies.items()):
                yield Place((i, j, k), (first, second, third), bandit, censorship, policy)


def shown(result: Result) -> Result:
    """Return the part of a result that is shown in detail, often all of it.

    The first problems, censorships, policies and orders are kept, and where everything is seen.
    Of a linear study the potential of order 1 is kept too.
    """
    study = result.study
    censorships = list(range(min(len(study.censorships), CENSORSHIPS)))
    baseline = baseline_of(study)
    if baseline is not None and baseline not in censorships:
        censorships[-1] = baseline
    problems = min(len(study.problems), PROBLEMS, max(1, PANELS // len(censorships)))
    names = list(study.censorships)
    orders = list(range(min(len(study.alphas), ORDERS)))
    if study.linear and 1.0 in study.alphas[ORDERS:]:
        orders[-1] = study.alphas.index(1.0)
    part = Study(
        dict(list(study.problems.items())[:problems]),
        {names[j]: study.censorships[names[j]] for j in censorships},
        dict(list(study.policies.items())[:POLICIES]),
        horizon=study.horizon,
        replications=study.replications,
        seed=study.seed,
        checkpoints=study.checkpoints,
        alphas=[study.alphas[order] for order in orders],
        baseline=False,
        stop=study.stop,
        level=study.level,
    )
    if len(censorships) == len(names):
        tracks = {name: array[:problems, :, :POLICIES] for name, array in result.tracks.items()}
    else:
        tracks = {
            name: array[:problems, censorships, :POLICIES] for name, array in result.tracks.items()
        }
    tracks["potential"] = tracks["potential"][..., orders]
    return Result(part, tracks, {})


def left_out(whole: Study, part: Study) -> str:
    """Describe what a page leaves out; empty if nothing.

    Parameters
    ----------
    whole, part
        The study, and what is shown of it.
    """
    counts = [
        f"{len(getattr(part, what))} of {len(getattr(whole, what)):,} {words}"
        for what, words in (
            ("problems", "problems"),
            ("censorships", "censorships"),
            ("policies", "policies"),
            ("alphas", "orders of the potential"),
        )
        if len(getattr(part, what)) < len(getattr(whole, what))
    ]
    return f"Shown to keep this page small: {', '.join(counts)}." if counts else ""


def drawn_checkpoints(study: Study) -> NDArray[np.int64]:
    """Return which checkpoints are drawn: all, or fewer where many curves share the page."""
    recorded = len(study.rounds_recorded)
    curves = len(study.problems) * len(study.censorships) * (len(study.policies) + 2)
    charts = 4 if study.linear else 1 + len(study.alphas)
    room = max(8, min(60, ROWS // (curves * charts)))
    if recorded <= room:
        return np.arange(recorded)
    return np.unique(np.rint(np.linspace(0, recorded - 1, room)).astype(np.int64))


def playable(problem: Any) -> NDArray[np.int64]:
    """Return the numbers of the arms, or of the actions of a finite set, that may be played."""
    if hasattr(problem, "dimension"):
        return np.arange(problem.actions.count)
    arms: NDArray[np.int64] = problem.playable
    return arms


def arms_drawn(result: Result, problem: int, regions: int = 0) -> NDArray[np.int64]:
    """Return a problem's arms, or the most pulled ones where there are too many to draw."""
    bandit = list(result.study.bandits.values())[problem]
    finite = not hasattr(bandit, "dimension") or bandit.actions.same_every_round
    arms = playable(bandit) if finite else np.arange(regions)
    if len(arms) <= ARMS:
        return arms
    pulls = result.tracks["pulls"][problem, :, :, :, -1].sum(axis=(0, 1, 2), dtype=float)
    most = np.argsort(-pulls[arms], kind="stable")[:ARMS]
    return np.sort(arms[most])


def pulls_and_observations(result: Result, position: Position, arms: Any) -> tuple[Vector, Vector]:
    """Return each arm's pulls and observations at the horizon, added over replications."""
    pulls, seen = (
        result.tracks[name][position][:, -1].sum(axis=0, dtype=float)[arms]
        for name in ("pulls", "observations")
    )
    return pulls, seen
