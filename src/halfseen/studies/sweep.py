"""One study over several values of one number: regret against p, T or lambda."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from halfseen import checks
from halfseen.censorship import Uniform
from halfseen.display import Tabular, rounded
from halfseen.errors import InvalidInput
from halfseen.studies.folder import check_owner
from halfseen.studies.policy_comparison import AXES, leading_rows, names_of
from halfseen.studies.result import Result
from halfseen.studies.simulate import check_progress, chosen_engine, simulate, thread_count
from halfseen.studies.spec import parse_spec, spec_text, sweep_in
from halfseen.studies.student_intervals import mean_interval
from halfseen.studies.study import Study
from halfseen.studies.sweep_folder import (
    check_sweep_folder,
    mark_sweep,
    stored_sweep,
    value_folder,
)
from halfseen.studies.swept_number import field_of, path_of, varied
from halfseen.tables import Table, level_name, table

if TYPE_CHECKING:
    import altair as alt
    import xarray as xr

MOST_VALUES = 1_000
WITHOUT_SLOPE = ("seed", "replications")


@dataclass(frozen=True, repr=False)
class Sweep(Tabular):
    """A study played at several values of one number.

    Attributes
    ----------
    path
        The number that was varied, such as ``censorships.*.observe``.
    values
        Its values.
    results
        The `Result` at each of them.
    """

    _frame = "summary"

    path: str
    values: tuple[float, ...]
    results: tuple[Result, ...]

    @property
    def coordinate(self) -> str:
        """The name of the varied number: its field, and its place in a list, as ``means[0]``."""
        return field_of(self.results[0].study, self.path)

    @property
    def data(self) -> xr.Dataset:
        """Regret and share seen at the horizon, with the varied number as a coordinate.

        The axes are the varied number, problem, censorship, policy and replication. A sweep of
        replications has none: each value has another number of them.
        """
        import xarray as xr

        sizes = [result.study.replications for result in self.results]
        if len(set(sizes)) > 1:
            raise InvalidInput(
                "Sweep.data",
                "must have as many replications at every value",
                sizes,
                "Use summary(), or the data of each of results.",
            )
        names = names_of(self.results[0])
        regret = np.stack([result.tracks["regret"][..., -1] for result in self.results])
        seen = np.stack(
            [
                result.tracks["observations"][..., -1, :].sum(axis=-1) / result.study.horizon
                for result in self.results
            ]
        )
        axes = (self.coordinate, *AXES, "replication")
        return xr.Dataset(
            {"regret": (axes, regret), "share_seen": (axes, seen)},
            coords={self.coordinate: list(self.values)} | dict(zip(AXES, names, strict=True)),
        )

    def summary(self, *, level: float = 0.95) -> Table:
        """Return mean regret with its interval, one row per value and cell."""
        records: list[dict[str, Any]] = []
        leading: list[int] = []
        for value, result in zip(self.values, self.results, strict=True):
            names = names_of(result)
            leading += [len(records) + place for place in leading_rows(result, level)]
            for position, _ in result.study.cells():
                found = mean_interval(result.tracks["regret"][position][:, -1], level)
                record: dict[str, Any] = {self.coordinate: value}
                record |= {axis: names[g][position[g]] for g, axis in enumerate(AXES)}
                record |= {"regret": found.mean, f"± {level_name(level)}": found.half_width}
                records.append(record)
        return table(records, {"regret": frozenset(leading)})

    @property
    def has_slope(self) -> bool:
        """Whether a slope against the number is meaningful: not for a seed, or a value of 0."""
        many = len(self.values) > 1 and min(self.values) > 0
        return many and self.path not in WITHOUT_SLOPE

    def slope(self, *, level: float = 0.95) -> Table:
        """Return the slope of log regret against log value, fitted by least squares.

        The interval is by the delta method over replications, which share their draws.
        """
        if self.path in WITHOUT_SLOPE:
            raise InvalidInput(
                "Sweep.path", "must be a number that regret depends on", self.path, "Use summary()."
            )
        checks.vector("Sweep.values", self.values, above=0.0, fix="A log needs values above 0.")
        x = np.log(self.values)
        spread = float(((x - x.mean()) ** 2).sum())
        if spread == 0.0:
            raise InvalidInput(
                "Sweep.values", "must be at least two values", self.values, "Add one."
            )
        weights = (x - x.mean()) / spread
        names = names_of(self.results[0])
        records = []
        for position, _ in self.results[0].study.cells():
            finals = [result.tracks["regret"][position][:, -1] for result in self.results]
            where: dict[str, Any] = {axis: names[g][position[g]] for g, axis in enumerate(AXES)}
            where |= {"slope": None, f"± {level_name(level)}": None}
            means = np.array([final.mean() for final in finals])
            if np.all(means > 0):
                where["slope"] = float(weights @ np.log(means))
                if len({final.size for final in finals}) == 1:
                    influence = weights @ (np.stack(finals) / means[:, None])
                    where[f"± {level_name(level)}"] = mean_interval(influence, level).half_width
            records.append(where)
        return table(records)

    def plot(self) -> alt.Chart:
        """Return a chart of regret against the varied number, with 95% intervals."""
        from halfseen.report.core.style import chart_of
        from halfseen.report.study.sweep_page import sweep_figure

        return chart_of(sweep_figure(self))

    def report(self, folder: Path | str) -> Path:
        """Write a page with the chart, the slopes and the numbers, and return its path.

        Parameters
        ----------
        folder
            Where to write ``report.html``, ``summary.csv``, ``spec.toml`` and ``charts``. It must
            be new or empty, hold this sweep's results, or an earlier page, which is replaced.
        """
        from halfseen.report.study.sweep_page import write_sweep

        return write_sweep(self, Path(folder))

    def at(self, value: float) -> Study:
        """Return the study at a value."""
        return varied(self.results[0].study, self.path, value)

    @staticmethod
    def load(folder: Path | str, study: Study | None = None) -> Sweep:
        """Read a finished sweep from its folder.

        Parameters
        ----------
        folder
            What `sweep` was given as `out`.
        study
            The study that was varied. Needed where that has Python functions, which no file holds.
        """
        found = stored_sweep(Path(folder))
        results = [
            Result.load(
                value_folder(Path(folder), found.number, value),
                None if study is None else varied(study, found.number, value),
            )
            for value in found.values
        ]
        return Sweep(found.number, tuple(found.values), tuple(results))

    def _headline(self) -> str:
        return f"{self.path} over {rounded(self.values)}; see .summary(), .slope(), .plot()"

    def _details(self) -> list[str | Table]:
        return [self.summary()]


def sweep(
    study: Study,
    path: str,
    values: Sequence[float],
    *,
    out: Path | str | None = None,
    progress: Callable[[int, int, str], None] | None = None,
    **options: Any,
) -> Sweep:
    """Play a study at several values of one of its numbers.

    Parameters
    ----------
    study
        The study; its own value of the number is not played unless it is among `values`.
    path
        ``horizon``, ``replications`` or ``seed``, or a number of a problem, censorship or policy:
        group, name and field with dots between, as ``censorships.half.observe``; ``*`` in the name
        stands for all of the group that have the field, the baseline apart. Others of the group are
        left out. An entry of a list is named by its place: ``censorships.shops.observe.0``.
    values
        The values the number is set to.
    out
        A new or empty folder in which every value gets a folder of its own; an interrupted sweep
        resumes, and may have other values.
    **options
        Of `simulate`: engine, workers and so on.

    Examples
    --------
    >>> from halfseen import UCB, ArmedBandit, Uniform
    >>> study = Study(ArmedBandit([0.6, 0.5]), Uniform(1.0), UCB(), horizon=1000, replications=20)
    >>> found = sweep(study, "censorships.*.observe", [0.25, 1.0])
    >>> found.data["regret"].sizes["observe"]
    2
    """
    numbers = _values(values)
    if not isinstance(study, Study):
        raise InvalidInput("study", "must be a Study", study, "Make one with Study(...).")
    studies = [varied(study, path, value) for value in numbers]
    check_progress(progress)
    if out is not None:
        _reserve(Path(out), path, numbers, studies, options)
    results = []
    for place, (value, design) in enumerate(zip(numbers, studies, strict=True)):
        folder = None if out is None else value_folder(Path(out), path, value)
        tell = None if progress is None else _part(progress, place, len(numbers))
        results.append(simulate(design, out=folder, progress=tell, **options))
    return Sweep(path, tuple(numbers), tuple(results))


def over(study: Study, numbers: Mapping[str, Sequence[float]], **options: Any) -> Sweep:
    """Sweep a study over the values of one number by its short name; see `Study.over`."""
    if len(numbers) != 1:
        raise InvalidInput(
            "over",
            "must be given one number with its values",
            list(numbers),
            "Write study.over(p=[0.1, 1.0]) or study.over(horizon=[1_000, 10_000]).",
        )
    [(name, values)] = numbers.items()
    if name != "p":
        return sweep(study, path_of(study, name), values, **options)
    content = {entry.name: getattr(study, entry.name) for entry in fields(study)}
    content |= {"censorships": {"uniform": Uniform(1.0)}, "baseline": False}
    return sweep(Study(**content), "censorships.uniform.observe", values, **options)


def _reserve(
    folder: Path, path: str, values: list[float], studies: list[Study], options: dict[str, Any]
) -> None:
    """Mark a folder as this sweep's after all checks."""
    check_sweep_folder(folder, path, lambda value: varied(studies[0], path, value))
    scheduler = options.get("scheduler")
    thread_count(options.get("workers"), scheduler)
    engine, precision = options.get("engine", "cpu"), options.get("precision", "double")
    for value, study in zip(values, studies, strict=True):
        chosen_engine(study, engine, precision, scheduler)
        check_owner(value_folder(folder, path, value), study, precision)
    mark_sweep(folder, path, values, studies[0])


def read_sweep(path: Path | str) -> tuple[Study, str, list[float]]:
    """Read a study and what is varied in it from a TOML file with a table ``sweep``.

    Parameters
    ----------
    path
        A file as `read_spec` reads it, with a table ``[sweep]`` of ``number``, the path of what is
        varied, and ``values``.

    Returns
    -------
    tuple
        The study, the path and the values: what `sweep` takes.

    Examples
    --------
    >>> import tempfile
    >>> text = '''
    ... horizon = 100
    ... problems.offers = { kind = "arms", means = [0.6, 0.5] }
    ... censorships.some = { kind = "uniform", observe = 0.5 }
    ... policies.UCB = { kind = "ucb" }
    ... sweep = { number = "censorships.some.observe", values = [0.1, 1.0] }
    ... '''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "study.toml")
    ...     _ = file.write_text(text)
    ...     sweep(*read_sweep(file)).values
    (0.1, 1.0)
    """
    text = spec_text(path)
    found = sweep_in(text)
    if found is None:
        raise InvalidInput(
            "sweep",
            "is missing",
            str(path),
            'Add [sweep] with number = "censorships.*.observe" and values = [0.1, 1.0].',
        )
    return parse_spec(text), *found


def with_numbers(study: Study, **numbers: int | None) -> Study:
    """Return the study with another horizon, replications or seed; None keeps the study's own."""
    content: dict[str, Any] = {entry.name: getattr(study, entry.name) for entry in fields(study)}
    changes = {name: value for name, value in numbers.items() if value is not None}
    return Study(**content | changes) if changes else study


def _values(values: Sequence[float]) -> list[float]:
    checks.vector("values", values)
    numbers = [v.item() if isinstance(v, np.generic) else v for v in values]
    if len(set(numbers)) < len(numbers):
        raise InvalidInput("values", "must differ from each other", numbers, "Leave repeats out.")
    if len(numbers) > MOST_VALUES:
        raise InvalidInput("values", f"must be at most {MOST_VALUES}", len(numbers), "Use fewer.")
    return [int(v) if float(v).is_integer() and isinstance(v, int) else v for v in numbers]


def _part(
    progress: Callable[[int, int, str], None], place: int, parts: int
) -> Callable[[int, int, str], None]:
    def tell(done: int, total: int, label: str) -> None:
        progress(place * total + done, parts * total, label)

    return tell
