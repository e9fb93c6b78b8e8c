"""The command: parse, call, print."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from halfseen.cli import completing
from halfseen.cli.ending import Commands, ended
from halfseen.cli.study_files import as_run, check_folder, study_named, sweep_named
from halfseen.errors import InvalidInput
from halfseen.interrupts import STOPPED, heard_once, leave_at_once

app = typer.Typer(
    cls=Commands,
    help="Bandits when feedback goes missing: simulate, bound and audit them.",
    no_args_is_help=True,
    add_completion=False,
    context_settings={"help_option_names": ["--help", "-h"]},
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
Spec = Annotated[
    str,
    typer.Argument(
        help="A TOML file, or the name of a built-in study: arms or linear.",
        autocompletion=completing.studies,
    ),
]
Imports = Annotated[
    list[str] | None,
    typer.Option(
        "--import",
        metavar="MODULE",
        help="A module that registers your own kinds; repeat for several.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print machine-readable JSON on stdout.")]


@app.callback(invoke_without_command=True)
def top(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
    install_completion: Annotated[
        bool,
        typer.Option("--install-completion", help="Let the Tab key complete in this shell."),
    ] = False,
) -> None:
    """Print the version, or install completion, if asked."""
    if version:
        from halfseen import __version__

        print(__version__)
        raise typer.Exit
    if install_completion:
        completing.install()
        raise typer.Exit


@app.command()
def study(
    spec: Spec = "arms",
    *,
    out: Annotated[Path, typer.Option(help="Folder for results and report.")] = Path("study"),
    engine: Annotated[
        str,
        typer.Option(help="cpu, cuda, dask, reference or auto.", autocompletion=completing.engines),
    ] = "cpu",
    precision: Annotated[
        str,
        typer.Option(
            help="double, or single on a GPU (faster; the draws differ).",
            autocompletion=completing.precisions,
        ),
    ] = "double",
    workers: Annotated[
        int | None, typer.Option(help="Threads, or Dask workers; all cores if left out.")
    ] = None,
    scheduler: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler, for --engine dask.")
    ] = None,
    summary: Annotated[
        bool,
        typer.Option("--summary", help="Keep only moments and quantiles, not every replication."),
    ] = False,
    horizon: Annotated[int | None, typer.Option(help="Rounds, instead of the spec's.")] = None,
    replications: Annotated[
        int | None, typer.Option(help="Replications, instead of the spec's.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed, instead of the spec's.")] = None,
    with_report: Annotated[
        bool, typer.Option("--report/--no-report", help="Write a page with charts, or do not.")
    ] = True,
    imports: Imports = None,
    as_json: Json = False,
) -> None:
    """Run a study, or resume an interrupted one; write a report."""
    from halfseen.cli.console import present, present_summary, progress_bar
    from halfseen.studies.simulate import choose_engine, simulate

    numbers_given = {"horizon": horizon, "replications": replications, "seed": seed}
    design = study_named(spec, imports, **numbers_given)
    varied = sweep_named(spec, **numbers_given)
    check_folder(out)
    if varied is not None and summary:
        raise InvalidInput("--summary", "must be left out of a sweep", True, "Leave it out.")
    if engine == "auto":
        engine, reason = choose_engine(design)
        print(f"The {engine} engine: {reason}.", file=sys.stderr)
    options: dict[str, Any] = {
        "engine": engine,
        "precision": precision,
        "workers": workers,
        "scheduler": scheduler,
        "out": out,
    }
    try:
        with heard_once(), progress_bar() as progress:
            if summary:
                from halfseen.studies.summarize import summarize

                left = summarize(design, progress=progress, **options)
            elif varied is not None:
                from halfseen.cli.sweep_console import play_sweep

                swept = play_sweep(design, varied, progress=progress, **options)
            else:
                result = simulate(design, progress=progress, **options)
    except KeyboardInterrupt:
        print(
            f"\nStopped. What is finished is kept in {out}; run the same command to go on.",
            file=sys.stderr,
        )
        raise typer.Exit(STOPPED) from None
    if summary:
        present_summary(left, out, as_json)
    elif varied is not None:
        from halfseen.cli.sweep_console import present_sweep

        present_sweep(swept, out, as_json, "if changed" if with_report else "never")
    else:
        present(result, out, as_json, "if changed" if with_report else "never")


@app.command()
def new(
    spec: Annotated[Path, typer.Argument(help="The file to write, such as study.toml.")] = Path(
        "study.toml"
    ),
    linear: Annotated[
        bool, typer.Option("--linear", help="Actions with features instead of arms.")
    ] = False,
) -> None:
    """Write a commented study to start from."""
    from importlib.resources import files

    from halfseen.studies.storage import write_text

    if spec.exists():
        raise InvalidInput("SPEC", "must not exist yet", str(spec), "Choose another name.")
    check_folder(spec.parent, "folder of SPEC")
    starter = files("halfseen.studies").joinpath("new_linear.toml" if linear else "new_arms.toml")
    write_text(spec, starter.read_text(encoding="utf-8"))
    print(f"Wrote {spec}. Run it: halfseen study {spec}")


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(help="A folder that `halfseen study` wrote.")],
    imports: Imports = None,
    as_json: Json = False,
) -> None:
    """Write the report of a finished study or sweep again."""
    from halfseen.cli.console import present
    from halfseen.kinds import import_kinds
    from halfseen.studies.result import Result
    from halfseen.studies.sweep_folder import holds_sweep

    import_kinds(imports or ())
    if holds_sweep(folder):
        from halfseen.cli.sweep_console import present_sweep
        from halfseen.studies.sweep import Sweep

        present_sweep(Sweep.load(folder), folder, as_json)
    else:
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
    """Show how hard arms are to learn and what more feedback is worth."""
    from halfseen.cli.console import print_dimension

    print_dimension(numbers("observe", observe), numbers("noise", noise), as_json)


@app.command()
def bounds(
    spec: Spec = "arms",
    out: Annotated[Path, typer.Option(help="Folder of the study's results, if it was run.")] = Path(
        "study"
    ),
    horizon: Annotated[int | None, typer.Option(help="Rounds, instead of the spec's.")] = None,
    imports: Imports = None,
    as_json: Json = False,
) -> None:
    """Print proved bounds on the regret, next to the measured regret."""
    from halfseen.cli.console import print_bounds

    design = study_named(spec, imports, horizon=horizon)
    print_bounds(as_run(design, out, horizon), out, as_json)


@app.command()
def path(
    spec: Annotated[
        str | None,
        typer.Argument(
            help="A study whose censorship acts along a direction: a TOML file or linear.",
            autocompletion=completing.offering(["linear"]),
        ),
    ] = None,
    *,
    threshold_radians: Annotated[
        str | None, typer.Option(help="Instead of a study: angles in radians, as 0.7,1.3.")
    ] = None,
    observe: Annotated[
        str | None, typer.Option(help="Probability of being observed per region, as 1,0.5,0.45.")
    ] = None,
    dimension: Annotated[
        int | None, typer.Option(help="Coordinates of an action; 3 if left out.")
    ] = None,
    regularization: Annotated[float, typer.Option(help="The ridge's lambda.")] = 1.0,
    regions: Annotated[
        int, typer.Option(help="Number of steps that approximate a smooth model.")
    ] = 8,
    out: Annotated[
        Path | None, typer.Option(help="Folder for a page and charts of the path.")
    ] = None,
    imports: Imports = None,
    as_json: Json = False,
) -> None:
    """Print the information path of a censorship along a direction."""
    from halfseen.cli.path_console import model_from, models_in, print_paths

    angles, seen = numbers("threshold-radians", threshold_radians), numbers("observe", observe)
    if spec is None:
        models, dimension = model_from(angles, seen, dimension), None
    elif angles is None and seen is None:
        models = models_in(study_named(spec, imports))
    else:
        raise InvalidInput(
            "SPEC",
            "cannot be combined with --threshold-radians or --observe",
            spec,
            "Give one or the other.",
        )
    if out is not None:
        check_folder(out)
    print_paths(models, dimension, regularization, regions, out, as_json)


@app.command()
def figures(
    out: Annotated[Path, typer.Option(help="Folder for the page and the figures.")] = Path(
        "figures"
    ),
    as_json: Json = False,
) -> None:
    """Draw the paper's figures, and two more."""
    from halfseen.cli.path_console import print_figures

    check_folder(out)
    print_figures(out, as_json)


@app.command()
def verify(
    quick: Annotated[
        bool, typer.Option("--quick", help="Small sizes: about a minute instead of several.")
    ] = False,
    claim: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="The name of a claim; repeat for several.",
            autocompletion=completing.claims,
        ),
    ] = None,
    listed: Annotated[
        bool, typer.Option("--list", help="Print the names of the claims and stop.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Seed of all simulations.")] = 1,
    out: Annotated[
        Path | None, typer.Option(help="Folder for a page, a LaTeX table and charts.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Run the experiment behind every claim of the paper."""
    from halfseen.claims.registry import verify as run_claims
    from halfseen.cli.console import present_claims, present_verdicts, progress_bar

    if listed:
        present_claims(as_json)
        return
    if out is not None:
        check_folder(out)
    try:
        with heard_once(), progress_bar() as progress:
            findings = run_claims(claim or None, quick=quick, seed=seed, progress=progress)
    except KeyboardInterrupt:
        print("\nStopped. Nothing was written.", file=sys.stderr)
        raise typer.Exit(STOPPED) from None
    present_verdicts(findings, out, as_json, details=bool(claim))
    if not all(finding.as_recorded for finding in findings):
        raise typer.Exit(1)


@app.command()
def completion(
    shell: Annotated[
        str, typer.Argument(help="bash, zsh or fish.", autocompletion=completing.shells)
    ],
) -> None:
    """Print the script that lets a shell complete this command.

    To install it: halfseen --install-completion, or halfseen completion bash >> ~/.bashrc (zsh:
    ~/.zshrc), or halfseen completion fish > ~/.config/fish/completions/halfseen.fish.
    """
    from typer.completion import get_completion_script  # type: ignore[attr-defined]

    from halfseen import checks
    from halfseen.cli.ending import COMPLETE

    known = checks.one_of("SHELL", shell, completing.SHELLS)
    if known == "zsh":  # a new .zshrc has not loaded what defines compdef
        print("(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }")
    print(get_completion_script(prog_name="halfseen", complete_var=COMPLETE, shell=known))


@app.command()
def doctor(
    clear_cache: Annotated[
        bool, typer.Option("--clear-cache", help="Delete all compiled code instead.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Print what this machine can run, and how fast."""
    from halfseen.cli.streams import print_json
    from halfseen.studies.machine import clear, examine

    found = clear() if clear_cache else examine()
    if as_json:
        print_json(found.to_dict())
    else:
        print(found)


def main() -> NoReturn:
    """Run the command; any error ends it with a sentence.

    Exit code 2: bad input, or files that cannot be used. 1: an error in halfseen itself, or a claim
    whose verdict is not the one recorded. 3: a threshold of ``audit --fail-if`` is crossed. 130:
    stopped with Ctrl-C. 141: nobody reads the output.
    """
    leave_at_once()
    code = ended(app)
    if code == STOPPED:  # do not wait for threads that still compile or simulate
        os._exit(STOPPED)
    sys.exit(code)


def numbers(field: str, text: str | None) -> list[float] | None:
    """Parse numbers separated by commas."""
    if text is None:
        return None
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InvalidInput(
            f"--{field}", "must be numbers separated by commas", text, "Write 0.9,0.1,0.5."
        )


from halfseen.cli import explore_command as explore_command  # noqa: E402
from halfseen.cli import logs as logs  # noqa: E402  (adds its commands)
from halfseen.cli import serve_command as serve_command  # noqa: E402
from halfseen.cli import value_command as value_command  # noqa: E402
