"""The results of a study, on named axes."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from halfseen import checks
from halfseen.display import Tabular
from halfseen.engine.arguments import Track
from halfseen.engine.cells.linear import LinearCell
from halfseen.engine.player import blank_track
from halfseen.equality import ByValue
from halfseen.errors import InvalidInput, StorageError
from halfseen.memory import memory_bytes
from halfseen.studies.folder import not_all_there, reserve_folder, stored_study
from halfseen.studies.storage import SUMMARIES, read_cell, readable, write_cell
from halfseen.studies.student_intervals import mean_interval
from halfseen.studies.study import AnyCell, Fingerprints, Position, Study
from halfseen.tables import Table, table

if TYPE_CHECKING:
    import altair as alt
    import xarray as xr

_AXES = ("problem", "censorship", "policy", "replication", "checkpoint")
_OF_A_REPLICATION = ("winner", "winner_round", "winner_right")  # not of a checkpoint
WINNER_COLUMNS = ("winner declared", "rounds to winner", "winner right")  # of the summary
_MORE_AXES = {
    "pulls": ("arm",),
    "observations": ("arm",),
    "pending": ("arm",),
    "lost": ("arm",),
    "potential": ("alpha",),
    "spread": ("design",),
    "eigenvalues": ("design", "coordinate"),
}


@dataclass(frozen=True, eq=False, repr=False)
class Result(Tabular, ByValue):
    """The recorded arrays of every replication of every cell, with the study they belong to.

    Attributes
    ----------
    study
        What was run.
    tracks
        Arrays with axes problem, censorship, policy, replication, checkpoint and, for some, arm
        or alpha.
    facts
        For every cell, by digest: seconds of simulation and versions of what ran it.
    fingerprints
        Digests of its parts and cells under the code with which the study was played or read; left
        out, under the present code.
    played
        How many cells `simulate` played, rather than read from a folder; None if it was loaded.
    """

    _frame = "summary"

    study: Study
    tracks: dict[str, np.ndarray[Any, Any]]
    facts: dict[str, dict[str, Any]] = field(compare=False)
    fingerprints: Fingerprints = field(default=None, compare=False)  # type: ignore[assignment]
    played: int | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if self.fingerprints is None:
            object.__setattr__(self, "fingerprints", self.study.fingerprints())

    @staticmethod
    def empty(study: Study) -> Result:
        """Return a result with arrays allocated for every cell of a study."""
        cells = (len(study.problems), len(study.censorships), len(study.policies))
        rows = math.prod(cells) * study.replications
        checkpoints = len(study.rounds_recorded)
        cell = max((cell for _, cell in study.cells()), key=lambda cell: cell.late)
        row = cell.blank(1, study.arms, study.dimension)
        try:
            if rows * sum(array.nbytes for array in row.arrays().values()) > memory_bytes():
                raise MemoryError
            blank = cell.blank(rows, study.arms, study.dimension)
        except (MemoryError, ValueError):
            what = "actions" if study.linear else "arms"
            size = f"{study.arms:,} {what}"
            if study.linear:
                size += f" x {study.dimension:,} dimensions"
            raise InvalidInput(
                "Study",
                "must fit in memory",
                f"{rows:,} replications in all x {checkpoints:,} checkpoints x {size}",
                f"Lower replications, checkpoints or {what}, or keep a summary only: --summary,"
                " or `summarize`.",
            )
        tracks = {
            name: array.reshape(*cells, study.replications, *array.shape[1:])
            for name, array in blank.arrays().items()
        }
        if study.late:
            tracks.setdefault("pending", np.zeros_like(tracks["pulls"]))
        return Result(study, tracks, {})

    def track(self, position: Position, cell: AnyCell) -> Track:
        """Return the part of the arrays that belongs to one cell."""
        parts = {name: array[position] for name, array in self.tracks.items()}
        for name in {"pulls", "observations", "pending"} & set(parts):
            parts[name] = parts[name][..., : cell.groups]
        if isinstance(cell, LinearCell):
            parts["eigenvalues"] = parts["eigenvalues"][..., : cell.problem.dimension]
        kind: Any = type(blank_track(cell, 0))
        return kind(**{name: parts[name] for name in kind._fields})

    @property
    def data(self) -> xr.Dataset:
        """The recorded arrays as an xarray dataset, sharing their memory.

        Problems with fewer arms than the largest have zero pulls of the arms they lack.
        `optimism_failed` is -1 for policies without a confidence interval. With ``stop="winner"``:
        `winner` is the arm declared the best, `winner_round` the round in which it was, and
        `winner_right` whether it is a best arm; -1, 0 and -1 where none was declared. With late
        feedback: `observations` counts rewards that have arrived, `pending` decisions whose reward
        may still arrive, and `lost` those whose window has closed (or, where only conversions are
        sent, that paid 0).
        """
        import xarray as xr

        study = self.study
        variables: dict[str, Any] = {
            name: (
                _AXES[:-1] if name in _OF_A_REPLICATION else (*_AXES, *_MORE_AXES.get(name, ())),
                array,
            )
            for name, array in (self.tracks | self._right() | self._lost()).items()
        }
        shape = (len(study.problems), len(study.censorships), len(study.policies))
        seconds = np.full(shape, np.nan)
        for position, digest in self.fingerprints.cells.items():
            seconds[position] = self.facts.get(digest, {}).get("seconds", np.nan)
        variables["seconds"] = (_AXES[:3], seconds)
        return xr.Dataset(
            variables,
            coords={
                "problem": list(study.problems),
                "censorship": list(study.censorships),
                "policy": list(study.policies),
                "checkpoint": study.rounds_recorded,
                "alpha": list(study.alphas),
            }
            | ({"design": ["observed", "expected"]} if study.linear else {}),
            attrs={
                "study": json.dumps(study.to_dict()),
                "versions": json.dumps(next(iter(self.facts.values()), {}).get("versions", {})),
            },
        )

    def _right(self) -> dict[str, np.ndarray[Any, Any]]:
        """Return whether each declared winner is a best arm, -1 where none was declared."""
        if self.study.stop is None:
            return {}
        found = self.tracks["winner"]
        right = np.full(found.shape, -1, np.int8)
        for i, bandit in enumerate(self.study.bandits.values()):
            right[i] = np.where(found[i] < 0, -1, bandit.gaps[found[i]] == 0.0)
        return {"winner_right": right}

    def _lost(self) -> dict[str, np.ndarray[Any, Any]]:
        """Return how many decisions of each arm were given up without feedback."""
        if "pending" not in self.tracks:
            return {}
        found = self.tracks
        return {"lost": found["pulls"] - found["observations"] - found["pending"]}

    def summary(self) -> Table:
        """Return regret, its 95% interval (Student's) and what was seen, one row per cell.

        ``factor`` is the mean regret divided by that of the same policy where everything is seen.
        With ``stop="winner"``: the share of replications in which a winner was declared, the median
        of the round, those without one counted as later than the horizon, and the share of the
        winners that are best arms.
        """
        from halfseen.studies.policy_comparison import leading_rows

        study = self.study
        baseline = next(
            (j for j, c in enumerate(study.censorships.values()) if c.sees_everything), None
        )
        names = [list(study.problems), list(study.censorships), list(study.policies)]
        records = []
        for position, cell in study.cells():
            regret = mean_interval(self.tracks["regret"][position][:, -1])
            factor = None
            if baseline is not None:
                whole = self.tracks["regret"][position[0], baseline, position[2]][:, -1].mean()
                factor = float(regret.mean / whole) if whole > 0 else None
            seen = self.tracks["observations"][position][:, -1].sum(axis=1, dtype=float)
            records.append(
                {
                    "problem": names[0][position[0]],
                    "censorship": names[1][position[1]],
                    "policy": names[2][position[2]],
                    "regret": regret.mean,
                    "± 95%": regret.half_width,
                    "factor": factor,
                    "share seen": float(seen.mean() / study.horizon),
                }
                | self._under_way(position)
                | cell.size()
                | ({} if study.stop is None else self._winners(position))
            )
        return table(records, {"regret": frozenset(leading_rows(self))})

    def _under_way(self, position: Position) -> dict[str, float]:
        """Return the shares of decisions that are open and that were given up, with delays."""
        shares = {
            "share pending": self.tracks.get("pending"),
            "share lost": self._lost().get("lost"),
        }
        return {
            name: float(array[position][:, -1].sum(axis=1, dtype=float).mean() / self.study.horizon)
            for name, array in shares.items()
            if array is not None
        }

    def _winners(self, position: Position) -> dict[str, float | None]:
        """Return how often, how soon and how accurately a winner was declared in one cell."""
        rounds = self.tracks["winner_round"][position]
        right = self._right()["winner_right"][position]
        declared = right >= 0
        middle = float(np.median(np.where(declared, rounds, np.inf)))
        return {
            "winner declared": float(declared.mean()),
            "rounds to winner": middle if math.isfinite(middle) else None,
            "winner right": float(right[declared].mean()) if declared.any() else None,
        }

    def compare(
        self, first: str, second: str, *, axis: str = "policy", level: float = 0.95
    ) -> Table:
        """Return regret of `first` less that of `second` at the horizon, paired on the same draws.

        The n-th reward of an arm is the same under every policy and censorship, so differences
        vary less than regrets do. One row for each of the other two axes' combinations, with the
        Student interval and the share of replications in which `first` had the lower regret
        (ties count half). `first` is in the column named by `axis`, `second` in ``against``.

        Parameters
        ----------
        first, second
            Names of policies, or of censorships or problems with `axis`.
        axis
            ``"policy"``, ``"censorship"`` or ``"problem"``.
        level
            Confidence of each interval.
        """
        from halfseen.studies.policy_comparison import compare

        return compare(self, first, second, axis, level)

    def best(self, *, level: float = 0.95) -> Table:
        """Return the policy with the lowest regret under every problem and censorship.

        Where the replications do not distinguish it from others, ``best`` lists those too: "UCB or
        IMED", and "UCB and IMED tie" if they had the same regret in every replication; ``clear`` is
        True if it names one. A policy with the lowest expected regret is among those named with
        probability at least `level`. ``regret`` is the lowest mean, ``behind by`` how much more the
        next lost, paired on the same draws, and ``± 95%, adjusted`` half the width of its interval,
        which allows for comparing the lowest with all other policies (Bonferroni).
        """
        from halfseen.studies.policy_comparison import best

        return best(self, level)

    def slope(self, *, since: float = 0.1, level: float = 0.95) -> Table:
        """Return the growth of mean regret on log-log axes, from a share of the horizon on.

        The slope is log(R(T)/R(s))/log(T/s), s the first recorded round at or after
        ``since`` x T; its interval is by the delta method. It is about 1/2 for regret like the
        root of T, 1 for linear regret, and tends to 0 for logarithmic regret.
        """
        from halfseen.studies.policy_comparison import slope

        return slope(self, since, level)

    def plot(self, what: str = "regret", problem: str | None = None) -> alt.Chart:
        """Return a chart with one panel per world.

        Parameters
        ----------
        what
            ``"regret"``, its mean by round with 95% bands, or ``"corridor"``, the regret between
            its lower and upper bounds, where both are known (UCB on armed bandits).
        problem
            The name of one problem; left out, all of them.
        """
        from halfseen.report.study.plots import corridor_chart, regret_chart

        draw = {"regret": regret_chart, "corridor": corridor_chart}
        chosen = draw[checks.one_of("what", what, draw)]
        known = None if problem is None else checks.one_of("problem", problem, self.study.problems)
        return chosen(self, known)

    def report(self, folder: Path | str) -> Path:
        """Write the study's page with charts and numbers, and return its path.

        Parameters
        ----------
        folder
            Where to write ``report.html``, ``summary.csv``, ``spec.toml`` and ``charts``. It must
            be new or empty, hold this study's results, or an earlier report, which is replaced.
        """
        from halfseen.report.study.page import write_report

        return write_report(self, folder)

    def _headline(self) -> str:
        return f"{self.study.size}; see .summary(), .best(), .plot(), .report(folder), .data"

    def _details(self) -> list[str | Table]:
        return [self.summary()]

    def save(self, folder: Path | str) -> None:
        """Write everything into a folder that `load` reads back.

        Whatever stops this, every cell that was in the folder can still be read.
        """
        singles = any(facts.get("precision") == "single" for facts in self.facts.values())
        precision = "single" if singles else "double"
        with reserve_folder(Path(folder), self.study, precision, self.fingerprints) as place:
            for position, cell in self.study.cells():
                digest = self.fingerprints.cells[position]
                track = self.track(position, cell)
                write_cell(place, digest, track.arrays(), self.facts.get(digest, {}))

    @staticmethod
    def load(folder: Path | str, study: Study | None = None) -> Result:
        """Read a finished study from its folder.

        Parameters
        ----------
        folder
            Where `save` or `simulate` wrote it.
        study
            The study it holds. Needed where that has Python functions, which no file holds.
        """
        folder = Path(folder)
        study = stored_study(folder, study)
        if study is None:
            raise StorageError(
                f"{folder} holds no study. Run `halfseen study SPEC --out {folder}`, SPEC a TOML"
                " file or a built-in study."
            )
        result = Result.empty(study)
        for position, cell in study.cells():
            if result.read(folder, position, cell):
                continue
            with readable(folder):
                summarized = (folder / SUMMARIES).exists()
            if summarized:
                raise StorageError(
                    f"{folder} holds a summary, not every replication. Read it with"
                    " `Summary.load`, or run `halfseen study --summary` again to print it."
                )
            raise not_all_there(folder, result.fingerprints)
        return result

    def read(self, folder: Path, position: Position, cell: AnyCell) -> bool:
        """Read one cell from disk if it is there."""
        digest = self.fingerprints.cells[position]
        facts = read_cell(folder, digest, self.track(position, cell).arrays())
        if facts is None:
            return False
        self.facts[digest] = facts
        return True
