"""The command: parse, call, print."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from halfseen.errors import HalfseenError, InvalidInput

if TYPE_CHECKING:
    from halfseen.study import Study

BUILT_IN = ("arms", "linear")

app = typer.Typer(
    help="Bandits when feedback goes missing: simulate, bound and audit them.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
Spec = Annotated[
    str, typer.Argument(help="A TOML file, or the name of a built-in study: arms or linear.")
]
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
    spec: Spec = "arms",
    out: Annotated[Path, typer.Option(help="Folder for results and report.")] = Path("study"),
    engine: Annotated[str, typer.Option(help="cpu or reference.")] = "cpu",
    workers: Annotated[int | None, typer.Option(help="Threads; all cores if left out.")] = None,
    as_json: Json = False,
) -> None:
    """Run a study, or go on with an interrupted one, and write its report."""
    from halfseen.console import present, progress_bar
    from halfseen.simulation import simulate

    design = study_named(spec)
    try:
        with progress_bar() as progress:
            result = simulate(design, engine=engine, workers=workers, out=out, progress=progress)
    except KeyboardInterrupt:
        print(
            f"\nStopped. Finished cells are kept in {out}; run the same command to go on.",
            file=sys.stderr,
        )
        raise typer.Exit(130) from None
    present(result, out, as_json)


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(help="A folder that `halfseen study` wrote.")],
    as_json: Json = False,
) -> None:
    """Write the report of a finished study again and print its summary."""
    from halfseen.console import present
    from halfseen.result import Result

    present(Result.load(folder), folder, as_json)


@app.command()
def dimension(
    observe: Annotated[
        str, typer.Option(help="Probability that each arm is observed, as 0.9,0.1,0.5.")
    ],
    noise: Annotated[
        str | None, typer.Option(help="Noise of each arm, as 1,1,0.5; all the same if left out.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Print the effective dimension and what more feedback on each arm is worth."""
    from halfseen.console import print_dimension

    print_dimension(_numbers("observe", observe), _numbers("noise", noise), as_json)


@app.command()
def bounds(
    spec: Spec = "arms",
    out: Annotated[Path, typer.Option(help="Folder of the study's results, if it was run.")] = Path(
        "study"
    ),
    as_json: Json = False,
) -> None:
    """Print what is proved about the regret, next to what was measured."""
    from halfseen.console import print_bounds

    print_bounds(study_named(spec), out, as_json)


@app.command()
def audit(
    log: Annotated[
        str,
        typer.Argument(
            help="A CSV or Parquet file, a pattern or folder of them, a DuckDB database or"
            " postgresql://user@host/base."
        ),
    ],
    action: Annotated[str, typer.Option(help="Column that names the arm.")],
    reward: Annotated[str | None, typer.Option(help="Column of rewards, empty if missing.")] = None,
    observed: Annotated[str | None, typer.Option(help="Column: was the reward seen?")] = None,
    time: Annotated[str | None, typer.Option(help="Column: when was it decided?")] = None,
    feedback_time: Annotated[
        str | None, typer.Option(help="Column: when did the reward come back?")
    ] = None,
    propensity: Annotated[
        str | None, typer.Option(help="Column: how likely was this arm chosen?")
    ] = None,
    context: Annotated[str | None, typer.Option(help="Column: which group is it?")] = None,
    unit: Annotated[
        str | None, typer.Option(help="Column: who or what was it decided for?")
    ] = None,
    table: Annotated[str | None, typer.Option(help="Table of a database.")] = None,
    encoding: Annotated[
        str | None, typer.Option(help="Of a CSV file that is not UTF-8, as latin-1.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for the report.")] = Path("audit"),
    as_json: Json = False,
) -> None:
    """Tell what the missing feedback in a log of decisions costs."""
    from halfseen.console import print_audit
    from halfseen.logs.audit import audit as run

    found = run(
        log,
        action=action,
        reward=reward,
        observed=observed,
        time=time,
        feedback_time=feedback_time,
        propensity=propensity,
        context=context,
        unit=unit,
        table=table,
        encoding=encoding,
    )
    print_audit(found, out, as_json)


def study_named(spec: str) -> Study:
    """Return a built-in study by its name, or the study in a file."""
    from importlib.resources import files

    from halfseen.spec import parse_spec, read_spec

    if spec in BUILT_IN:
        return parse_spec(files("halfseen").joinpath(f"{spec}.toml").read_text(encoding="utf-8"))
    return read_spec(spec)


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


def _numbers(field: str, text: str | None) -> list[float] | None:
    if text is None:
        return None
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InvalidInput(
            f"--{field}", "must be numbers with commas between", text, "Write 0.9,0.1,0.5."
        )


if __name__ == "__main__":
    main()
