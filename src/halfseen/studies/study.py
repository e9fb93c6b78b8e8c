"""The frozen design of an experiment."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from halfseen import checks
from halfseen.censorship import Censorship, Uniform
from halfseen.display import Shown
from halfseen.engine.cells.arms import Cell
from halfseen.engine.cells.late_cell import arm_cell
from halfseen.engine.cells.late_vectors_cell import linear_cell
from halfseen.engine.cells.linear import LinearCell
from halfseen.errors import InvalidInput
from halfseen.fingerprint import NoFingerprint, fingerprint
from halfseen.phrases import counted
from halfseen.policies import GLMPolicy, LinearPolicy, Policy
from halfseen.problems import ArmedBandit, GeneralizedLinearBandit, LinearBandit, Problem
from halfseen.studies.named_kinds import named
from halfseen.studies.plain_values import describe, functions_in
from halfseen.studies.stopping import check_stop, stopping_level
from halfseen.tables import Table

if TYPE_CHECKING:
    from halfseen.studies.sweep import Sweep

AnyPolicy = Policy | LinearPolicy
AnyCell = Cell | LinearCell
_FITTING: dict[type[Any], tuple[Callable[..., AnyCell], type[Any], str, str]] = {
    ArmedBandit: (arm_cell, Policy, "armed", "Use UCB() or another policy for arms."),
    LinearBandit: (linear_cell, LinearPolicy, "linear", "Use LinUCB() or another linear policy."),
    GeneralizedLinearBandit: (
        linear_cell,
        GLMPolicy,
        "generalized linear",
        "Use GLMUCB() or another of those.",
    ),
}
EVERYTHING_SEEN = "everything seen"
TRAJECTORIES = 1  # raised whenever any stored number would change for the same study
GROUPS = {"problems": "problem", "censorships": "censorship", "policies": "policy"}
STOPS = ("winner",)
Position = tuple[int, int, int]


@dataclass(frozen=True)
class Fingerprints:
    """Hashes of the parameters and code that determine a study's numbers.

    Attributes
    ----------
    nouns
        For every problem, censorship and policy, by place such as ``"policies.UCB"``: a hash of
        its parameters and code.
    cells
        A hash of everything that determines a cell's numbers, by position.
    """

    nouns: dict[str, str]
    cells: dict[Position, str]


@dataclass(frozen=True, init=False, repr=False)
class Study(Shown):
    """Problems x censorships x policies, played for a horizon, many times.

    Parameters
    ----------
    problems, censorships, policies
        Each a dictionary of names and objects, or one object.
    horizon
        Rounds per replication.
    replications
        How many times each combination is played, independently.
    seed
        One whole number; the same seed gives the same numbers on any engine and any number of
        cores. The world draws the same rewards for every policy and censorship of a problem.
    checkpoints
        At most how many rounds, spread evenly on a log scale, are recorded.
    alphas
        Orders of the potential to track, each above 0 and at most 8; left out, 1/2 and 1 for arms
        and 1 for linear bandits, where any other order costs O(d^3) an observation.
    baseline
        Add a censorship under which everything is seen, if there is none, to compare with.
    stop
        ``"winner"``, for arms: record of every replication the first arm that the rule ``"either"``
        of `halfseen.theory.winner` shows to be the best, looking after every observation, and the
        round, unless what is missing depends on rewards. No other number changes.
    level
        Level of the winner, with `stop` only: a wrong one is declared with probability at most
        1 - level. 0.95 by default.

    Examples
    --------
    >>> from halfseen import UCB, ArmedBandit, PerArm
    >>> study = Study(ArmedBandit([0.6, 0.5]), PerArm([0.3, 0.9]), UCB(), horizon=1000)
    >>> list(study.censorships)
    ['per-arm', 'everything seen']
    """

    problems: dict[str, Any]
    censorships: dict[str, Any]
    policies: dict[str, Any]
    horizon: int
    replications: int
    seed: int
    checkpoints: int
    alphas: tuple[float, ...]
    baseline: bool
    stop: str | None
    level: float | None

    @checks.by_name(3, "Study(problems, censorships, policies, horizon=...)")
    def __init__(
        self,
        problems: Mapping[str, Problem] | Problem,
        censorships: Mapping[str, Censorship] | Censorship,
        policies: Mapping[str, AnyPolicy] | AnyPolicy,
        *,
        horizon: int,
        replications: int = 100,
        seed: int = 0,
        checkpoints: int = 50,
        alphas: Sequence[float] | None = None,
        baseline: bool = True,
        stop: str | None = None,
        level: float | None = None,
    ) -> None:
        baseline = checks.yes_or_no("Study.baseline", baseline)
        seen = named("Study.censorships", censorships, Censorship)
        if baseline and not any(c.sees_everything for c in seen.values()):
            seen[_unused(EVERYTHING_SEEN, seen)] = Uniform(1.0)
        values = {
            "problems": named("Study.problems", problems, Problem),
            "censorships": seen,
            "policies": named("Study.policies", policies, AnyPolicy),
            "horizon": checks.whole("Study.horizon", horizon, at_least=1, at_most=2**48),
            "replications": checks.whole(
                "Study.replications", replications, at_least=1, at_most=2**31
            ),
            "seed": checks.seed("Study.seed", seed),
            "checkpoints": checks.whole(
                "Study.checkpoints", checkpoints, at_least=1, at_most=1_000_000
            ),
            "baseline": baseline,
            "stop": None if stop is None else checks.one_of("Study.stop", stop, STOPS),
            "level": stopping_level(stop, level),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        self._make_bandits()
        if alphas is None:
            alphas = (1.0,) if self.linear else (0.5, 1.0)
        orders = checks.vector("Study.alphas", alphas, above=0.0, at_most=8.0, may_be_empty=True)
        object.__setattr__(self, "alphas", orders)
        self._check_kinds()
        check_stop(self)
        names = [list(self.problems), list(self.censorships), list(self.policies)]
        for (i, j, k), cell in self.cells():
            with located(f"censorships.{names[1][j]} on problems.{names[0][i]}"):
                cell.check_censorship()
            with located(f"policies.{names[2][k]} on problems.{names[0][i]}"):
                cell.check_policy()

    def _make_bandits(self) -> None:
        bandits: dict[str, Any] = {}
        for name, problem in self.problems.items():
            with located(f"problems.{name}"):
                bandits[name] = problem.bandit()
            if type(bandits[name]) not in _FITTING:
                raise InvalidInput(
                    f"Study.problems[{name!r}]",
                    "must be an ArmedBandit, LinearBandit or GeneralizedLinearBandit itself, or a"
                    " Problem whose `bandit` returns one",
                    type(bandits[name]).__name__,
                    "Use the class it is made from.",
                )
        object.__setattr__(self, "_bandits", bandits)

    def _check_kinds(self) -> None:
        kinds = {type(bandit) for bandit in self.bandits.values()}
        if len(kinds) > 1:
            raise InvalidInput(
                "Study.problems",
                "must be all armed, all linear or all generalized linear bandits",
                sorted(kind.__name__ for kind in kinds),
                "Make two studies.",
            )
        _, wanted, what, fix = _FITTING[kinds.pop()]
        for name, policy in self.policies.items():
            apart = isinstance(policy, GLMPolicy) and wanted is LinearPolicy
            if apart or not isinstance(policy, wanted):
                raise InvalidInput(
                    f"Study.policies[{name!r}]", f"must be a policy for {what} bandits", policy, fix
                )

    @property
    def bandits(self) -> dict[str, Any]:
        """The bandit that is played for every problem, by name."""
        return self._bandits  # type: ignore[attr-defined]

    @property
    def linear(self) -> bool:
        """True when the problems are linear or generalized linear bandits."""
        return all(bandit.linear for bandit in self.bandits.values())

    @property
    def late(self) -> bool:
        """True when decisions may be open: feedback has delays, or a policy counts its plays."""
        delays = any(c.delayed is not None for c in self.censorships.values())
        return delays or any(cell.late for _, cell in self.cells())

    @property
    def rounds_recorded(self) -> NDArray[np.int64]:
        """The rounds at which tracks are recorded; the last is the horizon."""
        if self.checkpoints == 1:
            return np.array([self.horizon])
        spread = np.geomspace(1, self.horizon, min(self.checkpoints, self.horizon))
        return np.unique(np.append(np.rint(spread).astype(np.int64), self.horizon))

    @property
    def arms(self) -> int:
        """The largest number of arms, actions or regions counted apart in any cell."""
        return max(cell.groups for _, cell in self.cells())

    @property
    def dimension(self) -> int:
        """The largest dimension of any linear problem."""
        return max(getattr(bandit, "dimension", 0) for bandit in self.bandits.values())

    @property
    def size(self) -> str:
        """The size of the study, in a line."""
        cells = " x ".join(counted(GROUPS[g], len(getattr(self, g))) for g in GROUPS)
        return f"{cells}, {counted('replication', self.replications)} of {self.horizon:,} rounds"

    def _headline(self) -> str:
        return f"{self.size}, seed {self.seed}"

    def _details(self) -> list[str | Table]:
        places = ((*place.split(".", 1), noun) for place, noun in self.nouns().items())
        rows = tuple((GROUPS[group], name, repr(noun)) for group, name, noun in places)
        return [Table(("", "name", "is"), rows)]

    def over(
        self,
        *,
        out: Path | str | None = None,
        engine: str = "cpu",
        workers: int | None = None,
        **number: Sequence[float],
    ) -> Sweep:
        """Play the study at several values of one number; see `sweep`, which does the same.

        Parameters
        ----------
        out, engine, workers
            As in `simulate`; ``out`` gets a folder for each value.
        **number
            One name with its values: ``p``, the probability with which every reward is seen, in
            place of the study's censorships; ``horizon``, ``replications`` or ``seed``; or a field
            that problems, censorships or policies have, such as ``observe`` or
            ``regularization``.

        Examples
        --------
        >>> from halfseen import UCB, ArmedBandit, Uniform
        >>> study = Study(ArmedBandit([0.6, 0.5]), Uniform(1.0), UCB(), horizon=500)
        >>> study.over(p=[0.25, 1.0]).slope().columns
        ('problem', 'censorship', 'policy', 'slope', '± 95%')
        """
        from halfseen.studies.sweep import over

        return over(self, number, out=out, engine=engine, workers=workers)

    def cells(self) -> Iterator[tuple[tuple[int, int, int], AnyCell]]:
        """Yield the position and the content of every cell."""
        recorded, alphas = self.rounds_recorded, np.array(self.alphas)
        for i, bandit in enumerate(self.bandits.values()):
            build = _FITTING[type(bandit)][0]
            for j, censorship in enumerate(self.censorships.values()):
                for k, policy in enumerate(self.policies.values()):
                    cell = build(
                        bandit, censorship, policy, self.horizon, self.seed, recorded, alphas
                    )
                    if isinstance(cell, Cell) and self.stop is not None:
                        cell = replace(cell, level=self.level)
                    yield (i, j, k), cell

    def nouns(self) -> dict[str, Any]:
        """Return every problem, censorship and policy by its place, such as "policies.UCB"."""
        return {
            f"{group}.{name}": noun
            for group in GROUPS
            for name, noun in getattr(self, group).items()
        }

    @property
    def functions(self) -> dict[str, Any]:
        """The Python functions in it, by place; a spec cannot hold them."""
        found = (functions_in(noun, place) for place, noun in self.nouns().items())
        return dict(pair for pairs in found for pair in pairs)

    def check_storable(self) -> None:
        """Refuse to store a study with values that cannot be serialised."""
        for place, noun in self.nouns().items():
            try:
                fingerprint(_decisive(noun))
            except NoFingerprint as error:
                raise InvalidInput(
                    place,
                    f"must be made of code and values to be stored ({error})",
                    noun,
                    "Leave out `out` and `save` and use the result in memory, or give the"
                    " function's values: PerAction, or SequenceOfActions of sampled rounds.",
                ) from None

    def to_dict(self) -> dict[str, Any]:
        """Return the study as plain values, what a TOML spec holds; functions by name only."""
        tables = {
            group: {name: describe(noun) for name, noun in getattr(self, group).items()}
            for group in GROUPS
        }
        return {
            "horizon": self.horizon,
            "replications": self.replications,
            "seed": self.seed,
            "checkpoints": self.checkpoints,
            "alphas": list(self.alphas),
            "baseline": self.baseline,
            **self._stopping(),
        } | tables

    def _stopping(self) -> dict[str, Any]:
        """Return the stopping rule as plain values; nothing without one."""
        return {} if self.stop is None else {"stop": self.stop, "level": self.level}

    def fingerprints(self) -> Fingerprints:
        """Return hashes of everything that decides the numbers, code included.

        Values that cannot be serialised are distinguished in this process only.
        """
        nouns = {}
        for place, noun in self.nouns().items():
            try:
                nouns[place] = fingerprint(_decisive(noun))
            except NoFingerprint:
                nouns[place] = f"{id(noun)} in this process"
        shared = [self.horizon, self.replications, self.seed, self.checkpoints, list(self.alphas)]
        shared += self._stopping().items()
        by_group = [[nouns[f"{g}.{name}"] for name in getattr(self, g)] for g in GROUPS]
        cells = {
            position: _digest([shared, *(by_group[g][i] for g, i in enumerate(position))])
            for position in np.ndindex(*map(len, by_group))
        }
        return Fingerprints(nouns, cells)

    def digest(self) -> str:
        """Return a hash of everything that decides the study's numbers, code included."""
        return _digest([self.to_dict(), self.fingerprints().nouns])


@contextmanager
def located(place: str) -> Iterator[None]:
    """Name the place in the study in errors raised inside the with block."""
    try:
        yield
    except InvalidInput as error:
        field = f"{place}: {error.field}"
        raise InvalidInput(field, error.requirement, error.value, error.fix) from None


def _unused(name: str, names: Mapping[str, object]) -> str:
    while name in names:
        name += "'"
    return name


def _decisive(noun: Any) -> Any:
    """Return what determines an object's effect on the numbers: its fields and code."""
    return noun.decisive() if isinstance(noun, Problem) else noun


def _digest(content: list[Any]) -> str:
    text = json.dumps([*content, TRAJECTORIES], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]
