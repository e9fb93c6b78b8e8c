"""The commands for logs: audit, plan, invest, window."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from halfseen.cli import Json, app, check_folder, numbers
from halfseen.errors import InvalidInput

Log = Annotated[
    str,
    typer.Argument(
        help="A CSV or Parquet file, a pattern or folder of them, a DuckDB or SQLite database,"
        " postgresql://user@host/base or mysql://user@host/base."
    ),
]
Action = Annotated[str, typer.Option(help="Column that names the arm.")]
Reward = Annotated[str | None, typer.Option(help="Column of rewards, empty if missing.")]
Observed = Annotated[str | None, typer.Option(help="Column: was the reward seen?")]
Time = Annotated[str | None, typer.Option(help="Column: when was it decided?")]
FeedbackTime = Annotated[str | None, typer.Option(help="Column: when did the reward come back?")]
Encoding = Annotated[str | None, typer.Option(help="Of a CSV file that is not UTF-8, as latin-1.")]
Noise = Annotated[str | None, typer.Option(help="Standard deviation of rewards, one or per arm.")]
TableName = Annotated[str | None, typer.Option("--table", help="Table of a database.")]


@app.command()
def audit(
    log: Log,
    action: Annotated[str | None, typer.Option(help="Column that names the arm.")] = None,
    reward: Reward = None,
    observed: Observed = None,
    time: Time = None,
    feedback_time: FeedbackTime = None,
    propensity: Annotated[
        str | None, typer.Option(help="Column: how likely was this arm chosen?")
    ] = None,
    context: Annotated[str | None, typer.Option(help="Column: which group is it?")] = None,
    unit: Annotated[
        str | None, typer.Option(help="Column: who or what was it decided for?")
    ] = None,
    id: Annotated[str | None, typer.Option(help="Column that tells decisions apart.")] = None,
    features: Annotated[
        str | None, typer.Option(help="Columns of numbers that describe the action, as x,y,z.")
    ] = None,
    window: Annotated[
        float | None,
        typer.Option(help="Count rewards that came back within so many days; leave out the rest."),
    ] = None,
    now: Annotated[
        str | None, typer.Option(help="Until when rewards were waited for; else the last time.")
    ] = None,
    empty_means: Annotated[
        float | None, typer.Option(help="The reward that an empty one stands for, as 0.")
    ] = None,
    designed: Annotated[
        bool,
        typer.Option("--designed", help="Arms were drawn blindly and the log is looked at once."),
    ] = False,
    table: TableName = None,
    encoding: Encoding = None,
    traffic: Annotated[
        float | None, typer.Option(help="Decisions per day: adds a forecast to the report.")
    ] = None,
    imputations: Annotated[
        bool, typer.Option(help="Also simulate what made-up rewards would cost.")
    ] = False,
    out: Annotated[Path, typer.Option(help="Folder for the report.")] = Path("audit"),
    as_json: Json = False,
) -> None:
    """Tell what the missing feedback in a log of decisions costs."""
    from halfseen.cli.console import print_audit
    from halfseen.logs.audit import audit as run
    from halfseen.logs.audit_export import AUDIT_FILE
    from halfseen.studies.storage import is_marked

    check_folder(out)
    is_marked(out, AUDIT_FILE)  # before a long log is read
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
        id=id,
        features=() if features is None else features.split(","),
        window=window,
        now=now,
        empty_means=empty_means,
        designed=designed,
        table=table,
        encoding=encoding,
    )
    forecast = found.outlook() if traffic is None else found.plan(traffic)
    compared = found.compare_imputations() if imputations else None
    print_audit(found, out, as_json, forecast, compared)


@app.command()
def plan(
    traffic: Annotated[float, typer.Option(help="Decisions per day.")],
    means: Annotated[
        str | None, typer.Option(help="Mean reward of each arm, as 0.6,0.5; or name a log.")
    ] = None,
    observe: Annotated[
        str | None, typer.Option(help="Probability that each arm is observed; or name a log.")
    ] = None,
    noise: Noise = None,
    binary: Annotated[
        bool, typer.Option("--binary", help="Rewards are 0 or 1 and means their shares.")
    ] = False,
    days: Annotated[float, typer.Option(help="Length of the plan.")] = 365.0,
    goal_share: Annotated[
        float, typer.Option(help="Share of decisions that must go to a best arm.")
    ] = 0.9,
    goal_days: Annotated[int, typer.Option(help="Over how many days they must.")] = 7,
    close: Annotated[
        float, typer.Option(help="Arms within this much of the best count as best.")
    ] = 0.0,
    target: Annotated[
        float | None,
        typer.Option(help="Reward lost per day to get under; else wait for the best arm."),
    ] = None,
    log: Annotated[str | None, typer.Option(help="A log to take means and rates from.")] = None,
    action: Annotated[str | None, typer.Option(help="Its column of arms.")] = None,
    reward: Annotated[str | None, typer.Option(help="Its column of rewards.")] = None,
    observed: Observed = None,
    table: TableName = None,
    encoding: Encoding = None,
    as_json: Json = False,
) -> None:
    """Forecast how many days a bandit needs, with this feedback and with all of it."""
    from halfseen.cli.console import print_found, progress_bar
    from halfseen.logs.audit import audit as run
    from halfseen.logs.plan import plan as forecast

    options: dict[str, Any] = {
        "traffic": traffic,
        "days": days,
        "goal_share": goal_share,
        "goal_days": goal_days,
        "close": close,
        "target": target,
        "noise": _one_or_more("noise", noise),
    }
    with progress_bar() as progress:
        if log is not None:
            _not_with_log(means=means, observe=observe, binary=binary or None)
            arms, rewards = _given("action", action), _given("reward", reward)
            known = run(
                log,
                action=arms,
                reward=rewards,
                observed=observed,
                table=table,
                encoding=encoding,
            )
            found = known.plan(**options, progress=progress)
        else:
            _only_with_log(action, reward, observed, table, encoding)
            found = forecast(
                numbers("means", _given("means", means)) or [],
                numbers("observe", _given("observe", observe)) or [],
                reward="bernoulli" if binary else "gaussian",
                progress=progress,
                **options,
            )
    print_found(found, as_json)


@app.command()
def invest(
    budget: Annotated[float, typer.Option(help="Money to spend.")],
    cost: Annotated[
        str | None,
        typer.Option(help="Cost of seeing all of an arm instead of none, one or per arm."),
    ] = None,
    observe: Annotated[
        str | None, typer.Option(help="Probability that each arm is observed; or name a log.")
    ] = None,
    noise: Noise = None,
    log: Annotated[str | None, typer.Option(help="A log to take the rates from.")] = None,
    action: Annotated[str | None, typer.Option(help="Its column of arms.")] = None,
    reward: Annotated[str | None, typer.Option(help="Its column of rewards.")] = None,
    observed: Observed = None,
    cost_column: Annotated[
        str | None, typer.Option(help="Its column of what seeing a reward costs.")
    ] = None,
    table: TableName = None,
    encoding: Encoding = None,
    as_json: Json = False,
) -> None:
    """Split a budget for more feedback among the arms, so that it does most."""
    from halfseen.cli.console import print_found
    from halfseen.logs.audit import audit as run
    from halfseen.logs.invest import invest as split

    scale = _one_or_more("noise", noise)
    price = _one_or_more("cost", cost if log is not None else _given("cost", cost))
    if log is not None:
        _not_with_log(observe=observe)
        found = run(
            log,
            action=_given("action", action),
            reward=reward,
            observed=observed,
            cost=cost_column,
            table=table,
            encoding=encoding,
        )
        print_found(found.invest(budget, price, noise=scale), as_json)
        return
    _only_with_log(action, reward, observed, table, encoding, cost_column)
    rates = numbers("observe", _given("observe", observe)) or []
    price = [] if price is None else price
    print_found(split(rates, price, budget, noise=1.0 if scale is None else scale), as_json)


@app.command()
def window(
    log: Log,
    action: Action,
    time: Annotated[str, typer.Option(help="Column: when was it decided?")],
    feedback_time: Annotated[str, typer.Option(help="Column: when did the reward come back?")],
    reward: Annotated[str, typer.Option(help="Column of rewards, empty if missing.")],
    learns: Annotated[str, typer.Option(help="When is a reward used: on-arrival or when-settled?")],
    observed: Observed = None,
    now: Annotated[
        str | None, typer.Option(help="Until when rewards were waited for; else the last time.")
    ] = None,
    futures: Annotated[int, typer.Option(help="How many futures to simulate.")] = 60,
    table: TableName = None,
    encoding: Encoding = None,
    as_json: Json = False,
) -> None:
    """Tell how long to wait for feedback, by simulating a learner that waits."""
    from halfseen.cli.console import print_found
    from halfseen.logs.window import feedback_window

    found = feedback_window(
        log,
        action=action,
        time=time,
        feedback_time=feedback_time,
        reward=reward,
        learns=learns,
        observed=observed,
        now=now,
        futures=futures,
        table=table,
        encoding=encoding,
    )
    print_found(found, as_json)


def _given(field: str, text: str | None) -> str:
    if text is None:
        raise InvalidInput(f"--{field}", "must be given", None, "Or name a --log to take it from.")
    return text


def _one_or_more(field: str, text: str | None) -> float | list[float] | None:
    values = numbers(field, text)
    return values[0] if values is not None and len(values) == 1 else values


def _not_with_log(**given: Any) -> None:
    """Refuse what a log says itself."""
    for field, value in given.items():
        if value is not None:
            raise InvalidInput(
                f"--{field}",
                "must be left out with --log, which says it",
                value,
                "Leave out one of the two.",
            )


def _only_with_log(*given: str | None) -> None:
    """Refuse columns of a log that was not named."""
    named = [value for value in given if value is not None]
    if named:
        raise InvalidInput("--log", "must be given to read its columns", named, "Name the log.")
