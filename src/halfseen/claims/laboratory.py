"""The laboratory, which runs experiments in two sizes from one seed and caches studies."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from halfseen.censorship import Censorship
from halfseen.checks import Vector
from halfseen.equality import ByValue
from halfseen.problems import Problem
from halfseen.studies.simulate import simulate
from halfseen.studies.study import AnyPolicy, Study

Size = TypeVar("Size")


@dataclass(frozen=True, eq=False)
class Played(ByValue):
    """The trajectories of one policy in one cell, one row per replication."""

    rounds: NDArray[np.int64]
    tracks: dict[str, NDArray[Any]]

    @property
    def regret(self) -> Vector:
        """Regret at the end."""
        values: Vector = self.tracks["regret"][:, -1]
        return values

    def potential(self, order: int = 0, at: int = -1) -> Vector:
        """Return the potential of order number `order`, at a checkpoint."""
        values: Vector = self.tracks["potential"][:, at, order]
        return values

    def failed(self, event: str) -> NDArray[Any]:
        """Return 1 for replications in which the event had occurred by the end."""
        return self.tracks[f"{event}_failed"][:, -1]


@dataclass(frozen=True)
class Laboratory:
    """Runs the studies that claims need.

    Parameters
    ----------
    quick
        Use small sizes, which take a minute in total; otherwise those of the full run.
    seed
        One whole number for all studies.
    workers
        Number of threads; all cores by default.
    remember
        Cache results for claims that need the same study.

    Examples
    --------
    >>> Laboratory(quick=True).size(quick=10, full=1000)
    10
    """

    quick: bool = True
    seed: int = 1
    workers: int | None = None
    remember: bool = True
    _known: dict[str, Played] = field(default_factory=dict, repr=False, compare=False)

    def size(self, quick: Size, full: Size) -> Size:
        """Return the size for this run."""
        return quick if self.quick else full

    def elsewhere(self) -> Laboratory:
        """Return a laboratory with independent draws, for searching instances.

        >>> Laboratory(seed=4).elsewhere().seed
        1000004
        """
        return Laboratory(self.quick, self.seed + 1_000_000, self.workers, remember=False)

    def play(
        self,
        problem: Problem,
        censorship: Censorship,
        policy: AnyPolicy,
        horizon: int,
        replications: int,
        checkpoints: int = 1,
        alphas: tuple[float, ...] | None = None,
    ) -> Played:
        """Simulate one policy in one cell, or return the cached result."""
        study = Study(
            problem,
            censorship,
            policy,
            horizon=horizon,
            replications=replications,
            seed=self.seed,
            checkpoints=checkpoints,
            alphas=alphas,
            baseline=False,
        )
        digest = study.digest()
        if digest not in self._known:
            result = simulate(study, workers=self.workers)
            tracks = {name: array[0, 0, 0] for name, array in result.tracks.items()}
            played = Played(study.rounds_recorded, tracks)
            if not self.remember:
                return played
            self._known[digest] = played
        return self._known[digest]
