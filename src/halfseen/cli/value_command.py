"""The command that evaluates a policy on a log."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from halfseen.cli import Json, app, completing
from halfseen.cli.log_arguments import column, row_options
from halfseen.cli.logs import (
    Action,
    Decimal,
    DropArms,
    EmptyMeans,
    Encoding,
    FeedbackTime,
    Log,
    Now,
    Observed,
    Since,
    TableName,
    Time,
    Until,
    Where,
    Within,
)
from halfseen.cli.streams import answer_first, print_text
from halfseen.cli.study_files import check_folder
from halfseen.errors import InvalidInput, StorageError

FILE_COLUMNS = ("context", "arm", "probability")

Always = Annotated[str | None, typer.Option(help="The policy plays this arm only.")]
Mix = Annotated[str | None, typer.Option(help="The policy's probabilities by arm, as a=0.7,b=0.3.")]
TargetColumn = Annotated[str | None, column("Column: the policy's probability of the logged arm.")]
TargetFile = Annotated[
    Path | None, typer.Option(help="CSV of context, arm, probability: the policy by context.")
]
Against = Annotated[
    str | None,
    typer.Option(help="Compare with another policy, as a=0.5,b=0.5; else the logging policy."),
]
AgainstAlways = Annotated[str | None, typer.Option(help="The other policy plays this arm only.")]
AgainstColumn = Annotated[
    str | None, column("Column: the other policy's probability of the logged arm.")
]
AgainstFile = Annotated[
    Path | None, typer.Option(help="CSV of context, arm, probability: the other policy.")
]
ObserveModel = Annotated[
    str | None,
    typer.Option(
        help="Probability of being seen by: cells, arms, logistic, trees; or known: a=.2,b=.9.",
        autocompletion=completing.observe_models,
    ),
]
OutcomeModel = Annotated[
    str | None,
    typer.Option(
        help="Expected reward by: cells, arms, linear or trees.",
        autocompletion=completing.outcome_models,
    ),
]
Estimator = Annotated[
    str | None,
    typer.Option(
        help="DR, SNDR, IPW, SNIPW, DM, switch-DR, DRos, clipped IPW/DR.",
        autocompletion=completing.estimators,
    ),
]


@app.command()
def value(
    log: Log,
    *,
    action: Action,
    reward: Annotated[str, column("Column of rewards, empty if missing.")],
    always: Always = None,
    mix: Mix = None,
    target_column: TargetColumn = None,
    target_file: TargetFile = None,
    against: Against = None,
    against_always: AgainstAlways = None,
    against_column: AgainstColumn = None,
    against_file: AgainstFile = None,
    observed: Observed = None,
    propensity: Annotated[str | None, column("Column: probability of the arm chosen.")] = None,
    context: Annotated[str | None, column("Column: context, the group of the decision.")] = None,
    features: Annotated[
        str | None, column("Numeric columns that decisions depended on, as x,y,z.")
    ] = None,
    observe: ObserveModel = None,
    observe_column: Annotated[
        str | None, column("Column: the known probability of being seen.")
    ] = None,
    outcome: OutcomeModel = None,
    estimator: Estimator = None,
    threshold: Annotated[
        float, typer.Option(help="Largest weight of the clipped estimators.")
    ] = 10.0,
    interval: Annotated[
        str, typer.Option(help="normal or bootstrap.", autocompletion=completing.intervals)
    ] = "normal",
    level: Annotated[float, typer.Option(help="Confidence level.")] = 0.95,
    time: Time = None,
    feedback_time: FeedbackTime = None,
    window: Within = None,
    now: Now = None,
    empty_means: EmptyMeans = None,
    where: Where = None,
    since: Since = None,
    until: Until = None,
    drop_arms: DropArms = None,
    table: TableName = None,
    encoding: Encoding = None,
    decimal: Decimal = ".",
    out: Annotated[
        Path | None, typer.Option(help="Folder for a report; nothing is written without it.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Estimate from a log whether another policy would have earned more."""
    from halfseen.studies.storage import is_marked
    from halfseen.values.evaluate import value as run
    from halfseen.values.policy_value import PolicyValue

    policies = {
        "--always": always,
        "--mix": mix,
        "--target-column": target_column,
        "--target-file": target_file,
    }
    target = chosen_policy(policies)
    others = {
        "--against-always": against_always,
        "--against": against,
        "--against-column": against_column,
        "--against-file": against_file,
    }
    if out is not None:
        check_folder(out)
        is_marked(out, PolicyValue.FILE)  # before a long log is read
    options = {"compare": chosen_policy(others)} if any(others.values()) else {}
    named = {"target": _given(policies), "compare": _given(others), "observe": "--observe"}
    with _named_as_typed(named):
        found = run(
            log,
            target=target,
            action=action,
            reward=reward,
            observed=observed,
            propensity=propensity,
            context=context,
            features=() if features is None else features.split(","),
            observe=mixture("--observe", observe) if observe and "=" in observe else observe,
            observe_column=observe_column,
            outcome=outcome,
            estimator=estimator,
            threshold=threshold,
            interval=interval,
            level=level,
            time=time,
            feedback_time=feedback_time,
            window=window,
            now=now,
            empty_means=empty_means,
            table=table,
            encoding=encoding,
            decimal=decimal,
            **row_options(where, since, until, drop_arms),
            **options,
        )
    files = {"target_file": target_file, "against_file": against_file}
    read = {name: str(path) for name, path in files.items() if path is not None}
    found = replace(found, asked=found.asked | read)
    page = answer_first(
        lambda: print_text(f"{found}\n"),
        lambda page: found.to_dict() | {"report": None if page is None else str(page)},
        as_json,
        lambda: None if out is None else found.report(out),
    )
    if page is not None and not as_json:
        print(f"Report: {page}")


def chosen_policy(given: Mapping[str, Any]) -> Any:
    """Return the policy that one of four options names: an arm, a mixture, a column or a file."""
    named = {name: choice for name, choice in given.items() if choice is not None}
    if len(named) != 1:
        *first, last = given
        raise InvalidInput(
            f"{', '.join(first)} or {last}",
            "must be given once, to say which policy to evaluate",
            ", ".join(named) or None,
            f"Write for example {first[0]} ARM.",
        )
    always, mix, column, file = given.values()
    if always is not None:
        return {always: 1.0}
    ((name, choice),) = named.items()
    if mix is not None:
        return mixture(name, mix)
    return column if file is None else read_policy(name, choice)


def _given(choices: Mapping[str, Any]) -> str | None:
    """Return the option that was given."""
    return next((name for name, choice in choices.items() if choice is not None), None)


@contextmanager
def _named_as_typed(given: Mapping[str, str | None]) -> Iterator[None]:
    """Make errors name the option given, not Python's parameter."""
    try:
        yield
    except InvalidInput as error:
        words = {name: option for name, option in given.items() if option is not None}
        name, bracket, rest = error.field.partition("[")
        if name not in words and not any(f"`{name}`" in error.requirement for name in words):
            raise
        requirement = re.sub(
            r"`(\w+)`", lambda found: f"`{words.get(found[1], found[1])}`", error.requirement
        )
        field = words.get(name, name) + bracket + rest
        raise InvalidInput(field, requirement, error.value, error.fix) from None


def mixture(field: str, text: str) -> dict[str, float]:
    """Read probabilities by arm; a name with a comma stands in quotes.

    >>> mixture("--mix", 'a=0.7,"x,y=0.3"')
    {'a': 0.7, 'x,y': 0.3}
    """
    found: dict[str, float] = {}
    for part in next(csv.reader([text]), []):
        arm, sign, number = part.rpartition("=")
        arm = arm.strip()
        try:
            chance = float(number)
        except ValueError:
            sign = ""
        if not sign or arm in found:
            raise InvalidInput(
                field,
                "must name each arm once with its probability",
                text,
                "Write for example a=0.7,b=0.3.",
            )
        found[arm] = chance
    if not found:
        raise InvalidInput(field, "must name arms", text, "Write for example a=0.7,b=0.3.")
    return found


def read_policy(field: str, path: Path) -> dict[str, dict[str, float]]:
    """Read a policy by context from a CSV file of context, arm and probability."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = list(csv.DictReader(file))
    except OSError as error:
        raise StorageError(f"Cannot read {path}: {error.strerror}. Check the path.") from None
    except UnicodeDecodeError:
        raise InvalidInput(
            field, "must be a UTF-8 text file", str(path), "Save it as UTF-8."
        ) from None
    table: dict[str, dict[str, float]] = {}
    for line, row in enumerate(rows, start=2):
        context, arm, number = (row.get(name) for name in FILE_COLUMNS)
        try:
            chance = float(number or "")
        except ValueError:
            chance = -1.0
        if context is None or arm is None or not 0.0 <= chance <= 1.0:
            raise InvalidInput(
                field,
                f"must be a CSV file of {', '.join(FILE_COLUMNS)}",
                f"line {line} of {path.name}: {','.join(str(v) for v in row.values())}",
                "Correct that line, or the names in the first.",
            )
        if arm in table.setdefault(context, {}):
            raise InvalidInput(
                field, "must name each arm of a context once", f"{arm} in {context}", "Keep one."
            )
        table[context][arm] = chance
    if not table:
        raise InvalidInput(field, "must hold rows", path.name, f"Add {', '.join(FILE_COLUMNS)}.")
    return table
