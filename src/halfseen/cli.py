"""The command: parse, call, print."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from halfseen.errors import HalfseenError

if TYPE_CHECKING:
    from halfseen.result import Result
    from halfseen.study import Study

app = typer.Typer(
    help="Bandits when feedback goes missing: simulate, bound and report them.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
Json = Annotated[bool, typer.Option("--json", help="Print machine-readable JSON on stdout.")]


@app.callback(invoke_without_command=True)
def top(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Print the version if asked."""
    if version:
        from halfseen import __version__

        print(__version__)
        raise typer.Exit


@app.command()
def study(
    spec: Annotated[
        Path | None, typer.Argument(help="A TOML spec; left out, the built-in study.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for results and report.")] = Path("study"),
    engine: Annotated[str, typer.Option(help="cpu or reference.")] = "cpu",
    workers: Annotated[int | None, typer.Option(help="Threads; all cores if left out.")] = None,
    as_json: Json = False,
) -> None:
    """Run a study, or go on with an interrupted one, and write its report."""
    from halfseen.simulation import simulate

    design = default_study() if spec is None else _read(spec)
    try:
        with _progress() as progress:
            result = simulate(design, engine=engine, workers=workers, out=out, progress=progress)
    except KeyboardInterrupt:
        print(
            f"\nStopped. Finished cells are kept in {out}; run the same command to go on.",
            file=sys.stderr,
        )
        raise typer.Exit(130) from None
    _present(result, out, as_json)


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(help="A folder that `halfseen study` wrote.")],
    as_json: Json = False,
) -> None:
    """Write the report of a finished study again and print its summary."""
    from halfseen.result import Result

    _present(Result.load(folder), folder, as_json)


def default_study() -> Study:
    """Return the built-in study."""
    from importlib.resources import files

    from halfseen.spec import parse_spec

    return parse_spec(files("halfseen").joinpath("default.toml").read_text(encoding="utf-8"))


def main() -> NoReturn:
    """Run the command; bad input ends it with a sentence and exit code 2."""
    if isinstance(sys.stdout, io.TextIOWrapper):  # a name that cannot be shown is no error
        sys.stdout.reconfigure(errors="replace")
    try:
        app()
    except HalfseenError as error:
        print(f"halfseen: {error}", file=sys.stderr)
        sys.exit(2)
    sys.exit(0)


def _read(path: Path) -> Study:
    from halfseen.spec import read_spec

    return read_spec(path)


def _present(result: Result, folder: Path, as_json: bool) -> None:
    from halfseen.report import write_report

    page = write_report(result, folder)
    seconds = sum(facts.get("seconds", 0.0) for facts in result.facts.values())
    if as_json:
        _print_json(
            {
                "digest": result.study.digest(),
                "folder": str(folder),
                "report": str(page),
                "seconds": seconds,
                "summary": result.summary().records(),
            }
        )
        return
    _print_table(result)
    print(f"Simulated in {seconds:.1f} s. Report: {page}")


def _print_table(result: Result) -> None:
    from rich.box import SIMPLE
    from rich.console import Console
    from rich.table import Table as RichTable

    from halfseen.tables import show

    summary = result.summary()
    console = Console(markup=False, emoji=False, highlight=False)
    if not console.is_terminal:  # a file or a pipe: whole lines, however wide
        print(summary)
        return
    single = len(result.study.problems) == 1
    columns = [c for c in summary.columns if not (single and c == "problem")]
    grid = RichTable(
        title=f"Regret after {result.study.horizon:,} rounds",
        title_justify="left",
        box=SIMPLE,
        show_edge=False,
        pad_edge=False,
        padding=(0, 0, 0, 1),
    )
    for name in columns:
        words = name in ("problem", "censorship", "policy")
        widest = max(len(show(record[name])) for record in summary)
        if words:
            grid.add_column(name, overflow="fold", min_width=min(widest, 12))
        else:
            grid.add_column(name, justify="right", min_width=widest)
    before = None
    for record in summary:
        group = (record["problem"], record["censorship"])
        if before is not None and group != before:
            grid.add_section()
        cells = [show(record[name]) for name in columns]
        if group == before:
            cells[columns.index("censorship")] = ""
        grid.add_row(*cells)
        before = group
    console.print(grid)


def _print_json(content: Any) -> None:
    print(json.dumps(content, indent=1, allow_nan=False))


class _progress:  # noqa: N801
    """A progress bar on stderr, for people only."""

    def __enter__(self) -> Any:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        self.bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f}%"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            disable=not sys.stderr.isatty(),
            transient=True,
        )
        self.bar.__enter__()
        task = self.bar.add_task("starting", total=None)

        def progress(done: int, total: int, label: str) -> None:
            self.bar.update(task, completed=done, total=total, description=label)

        return progress

    def __exit__(self, *error: Any) -> None:
        self.bar.__exit__(*error)


if __name__ == "__main__":
    main()
