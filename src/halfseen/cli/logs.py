"""The commands for logs: audit, plan, invest, window."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from halfseen.cli import Json, app, numbers
from halfseen.cli.demo import is_demo, run_demo
from halfseen.cli.log_arguments import (
    Learns,
    alone,
    by_name,
    column,
    given,
    not_with_log,
    one_or_more,
    only_with_log,
    row_options,
)
from halfseen.cli.study_files import check_folder, check_new_file

COLUMN = "Name that column of the log."
CROSSED = 3  # exit code where --fail-if holds
Log = Annotated[
    str,
    typer.Argument(
        help="A CSV, JSON Lines, Parquet, Feather or Excel file (.gz and .zst too), a pattern or"
        " folder of them, - for standard input, a DuckDB or SQLite database,"
        " postgresql://user@host/base, mysql://user@host/base, https:// or s3://."
    ),
]
Action = Annotated[str, column("Column that names the arm.")]
Reward = Annotated[str | None, column("Column of rewards, empty if missing.")]
Observed = Annotated[str | None, column("Column: was the reward seen?")]
Time = Annotated[str | None, column("Column: when was it decided?")]
FeedbackTime = Annotated[str | None, column("Column: when did the reward come back?")]
Noise = Annotated[str | None, typer.Option(help="Standard deviation of rewards, one or per arm.")]
Within = Annotated[
    float | None,
    typer.Option(help="Window in days: count rewards that came back within it."),
]
Now = Annotated[
    str | None, typer.Option(help="Time until which rewards could arrive; default: the last time.")
]
EmptyMeans = Annotated[float | None, typer.Option(help="Value of an empty reward, as 0.")]
Where = Annotated[
    str | None, typer.Option(help="Use only rows for which this SQL condition holds.")
]
Since = Annotated[str | None, typer.Option(help="Leave out rows before this time.")]
Until = Annotated[str | None, typer.Option(help="Leave out rows from this time on.")]
DropArms = Annotated[str | None, typer.Option(help='Leave out these arms, as a,b or "x,y".')]
Encoding = Annotated[str | None, typer.Option(help="Encoding, if not UTF-8, as cp1252.")]
Decimal = Annotated[str, typer.Option(help="A comma if 0,5 means a half in a text file.")]
TableName = Annotated[
    str | None, typer.Option("--table", help="Table of a database, or sheet of an Excel file.")
]


@app.command()
def audit(
    log: Log,
    *,
    action: Annotated[str | None, column("Column that names the arm.")] = None,
    reward: Reward = None,
    observed: Observed = None,
    time: Time = None,
    feedback_time: FeedbackTime = None,
    propensity: Annotated[str | None, column("Column: probability of the arm chosen.")] = None,
    context: Annotated[str | None, column("Column: context, the group of the decision.")] = None,
    unit: Annotated[str | None, column("Column: who or what was it decided for?")] = None,
    id: Annotated[str | None, column("Column: unique id of the decision.")] = None,
    features: Annotated[
        str | None, column("Columns of numbers that describe the action, as x,y,z.")
    ] = None,
    window: Within = None,
    now: Now = None,
    empty_means: EmptyMeans = None,
    designed: Annotated[
        bool,
        typer.Option("--designed", help="Arms drawn independently of rewards; one look only."),
    ] = False,
    where: Where = None,
    since: Since = None,
    until: Until = None,
    drop_arms: DropArms = None,
    by: Annotated[str | None, column("Column: audit each of its values separately.")] = None,
    table: TableName = None,
    encoding: Encoding = None,
    decimal: Decimal = ".",
    traffic: Annotated[
        float | None, typer.Option(help="Decisions per day: adds a forecast to the report.")
    ] = None,
    imputations: Annotated[
        bool, typer.Option(help="Also simulate the cost of imputing missing rewards.")
    ] = False,
    compare: Annotated[
        Path | None, typer.Option(help="An earlier audit's JSON: say what changed beyond chance.")
    ] = None,
    fail_if: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CONDITION",
            help='End with exit code 3 if so, as "factor>2"; repeat for several.',
        ),
    ] = None,
    study: Annotated[
        Path | None, typer.Option(help="TOML file to write: a study with this log's arms.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for a report; nothing is written without it.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show what missing feedback costs; try: halfseen audit demo."""
    from halfseen.cli.audit_console import print_audit, print_segments
    from halfseen.logs.audit import audit as run
    from halfseen.logs.audit_export import AUDIT_FILE
    from halfseen.logs.comparison import compare as compare_audits
    from halfseen.logs.comparison import read_audit
    from halfseen.logs.fail_if import crossed_by, read_threshold
    from halfseen.logs.log_study import study_toml
    from halfseen.studies.storage import is_marked, write_text

    if out is not None:
        check_folder(out)
        is_marked(out, AUDIT_FILE)  # before a long log is read
    limits = [read_threshold(text, compare is not None) for text in fail_if or ()]
    before = None if compare is None else read_audit(compare)
    if study is not None:
        check_new_file("study", study)
    more = {"compare": compare, "fail_if": fail_if, "study": study}
    options: dict[str, Any] = {
        "action": action,
        "reward": reward,
        "observed": observed,
        "time": time,
        "feedback_time": feedback_time,
        "propensity": propensity,
        "context": context,
        "unit": unit,
        "id": id,
        "features": () if features is None else features.split(","),
        "window": window,
        "now": now,
        "empty_means": empty_means,
        "designed": designed,
        "table": table,
        "encoding": encoding,
        "decimal": decimal,
    } | row_options(where, since, until, drop_arms)
    if by is not None:
        from halfseen.logs.segment_comparison import compare_segments
        from halfseen.logs.segments import audit_by, unused

        alone("by", traffic=traffic, imputations=imputations, study=study)
        segmented = audit_by(log, by, **options)
        changed = None if before is None else compare_segments(segmented, before)
        print_segments(segmented, out, as_json, changed, more)
        every = unused("all rows", segmented.segments)
        parts = None if changed is None else {every: changed.whole, **changed.parts}
        _fail(*crossed_by(limits, {every: segmented.whole, **segmented.segments}, parts))
        return
    found = run_demo(options) if is_demo(log) else run(log, **options)
    forecast = found.outlook() if traffic is None else found.plan(traffic)
    imputed = found.compare_imputations() if imputations else None
    compared = None if before is None else compare_audits(found, before)
    if study is not None:
        write_text(study, study_toml(found))
    print_audit(found, out, as_json, forecast, imputed, compared, more)
    _fail(*crossed_by(limits, {"": found}, None if compared is None else {"": compared}))


def _fail(crossed: list[str], untold: list[str]) -> None:
    for said in (*untold, *crossed):
        print(f"halfseen: {said}", file=sys.stderr)
    if crossed:
        raise typer.Exit(CROSSED)


@app.command()
def plan(
    *,
    traffic: Annotated[float, typer.Option(help="Decisions per day.")],
    means: Annotated[
        str | None, typer.Option(help="Mean reward of each arm, as 0.6,0.5; or name a log.")
    ] = None,
    observe: Annotated[
        str | None, typer.Option(help="Probability that each arm is observed; or name a log.")
    ] = None,
    noise: Noise = None,
    binary: Annotated[bool, typer.Option("--binary", help="Rewards are 0 or 1.")] = False,
    days: Annotated[float, typer.Option(help="Length of the plan.")] = 365.0,
    goal_share: Annotated[
        float, typer.Option(help="Share of decisions that must go to a best arm.")
    ] = 0.9,
    goal_days: Annotated[int, typer.Option(help="Over how many days they must.")] = 7,
    goal_kept: Annotated[
        float,
        typer.Option(
            help="Then for this multiple of the time it took, so that luck does not count."
        ),
    ] = 1.0,
    close: Annotated[
        float, typer.Option(help="Arms within this much of the best count as best.")
    ] = 0.0,
    target: Annotated[
        float | None,
        typer.Option(help="Regret per day to reach; default: wait for the best arm."),
    ] = None,
    log: Annotated[str | None, typer.Option(help="A log to take means and rates from.")] = None,
    action: Annotated[str | None, column("Its column of arms.")] = None,
    reward: Annotated[str | None, column("Its column of rewards.")] = None,
    observed: Observed = None,
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
    as_json: Json = False,
) -> None:
    """Forecast how many days a bandit needs to find the best arm."""
    from halfseen.cli.audit_console import print_found
    from halfseen.cli.console import progress_bar
    from halfseen.logs.audit import audit as run
    from halfseen.logs.plan import plan as forecast

    options: dict[str, Any] = {
        "traffic": traffic,
        "days": days,
        "goal_share": goal_share,
        "goal_days": goal_days,
        "goal_kept": goal_kept,
        "close": close,
        "target": target,
        "noise": one_or_more("noise", noise),
    }
    waited: dict[str, Any] = {"feedback_time": feedback_time, "window": window, "now": now}
    known = None
    with progress_bar() as progress:
        if log is not None:
            not_with_log(means=means, observe=observe, binary=binary or None)
            arms, rewards = given("action", action, COLUMN), given("reward", reward, COLUMN)
            known = run(
                log,
                action=arms,
                reward=rewards,
                observed=observed,
                time=time,
                empty_means=empty_means,
                table=table,
                encoding=encoding,
                decimal=decimal,
                **waited,
                **row_options(where, since, until, drop_arms),
            )
            found = known.plan(**options, progress=progress)
        else:
            only_with_log(action, reward, observed, table, encoding, empty_means, *waited.values())
            found = forecast(
                numbers("means", given("means", means)) or [],
                numbers("observe", given("observe", observe)) or [],
                reward="bernoulli" if binary else "gaussian",
                progress=progress,
                **options,
            )
    print_found(found, as_json, known)


@app.command()
def invest(
    *,
    budget: Annotated[float, typer.Option(help="Money to spend.")],
    cost: Annotated[
        str | None,
        typer.Option(
            help="Cost of seeing all of an arm instead of none: one number, or red=100,blue=50 by"
            " name; numbers alone go by the arms' names in order (1, 2, 10; a, b, c)."
        ),
    ] = None,
    observe: Annotated[
        str | None, typer.Option(help="Probability that each arm is observed; or name a log.")
    ] = None,
    noise: Noise = None,
    log: Annotated[str | None, typer.Option(help="A log to take the rates from.")] = None,
    action: Annotated[str | None, column("Its column of arms.")] = None,
    reward: Annotated[str | None, column("Its column of rewards.")] = None,
    observed: Observed = None,
    time: Time = None,
    feedback_time: FeedbackTime = None,
    window: Within = None,
    now: Now = None,
    empty_means: EmptyMeans = None,
    cost_column: Annotated[str | None, column("Its column of what seeing a reward costs.")] = None,
    where: Where = None,
    since: Since = None,
    until: Until = None,
    drop_arms: DropArms = None,
    table: TableName = None,
    encoding: Encoding = None,
    decimal: Decimal = ".",
    as_json: Json = False,
) -> None:
    """Split a budget for more feedback among the arms."""
    from halfseen.cli.audit_console import print_found
    from halfseen.logs.audit import audit as run
    from halfseen.logs.invest import invest as split

    scale = one_or_more("noise", noise)
    price: float | list[float] | dict[str, float] | None
    if log is not None and cost is not None and "=" in cost:
        price = by_name("cost", cost)
    else:
        price = one_or_more("cost", cost if log is not None else given("cost", cost))
    waited: dict[str, Any] = {"feedback_time": feedback_time, "window": window, "now": now}
    if log is not None:
        not_with_log(observe=observe)
        found = run(
            log,
            action=given("action", action, COLUMN),
            reward=reward,
            observed=observed,
            time=time,
            cost=cost_column,
            empty_means=empty_means,
            table=table,
            encoding=encoding,
            decimal=decimal,
            **waited,
            **row_options(where, since, until, drop_arms),
        )
        print_found(found.invest(budget, price, noise=scale), as_json, found)
        return
    columns = (action, reward, observed, cost_column, empty_means, *waited.values())
    only_with_log(*columns, table, encoding)
    rates = numbers("observe", given("observe", observe)) or []
    per_arm = price if isinstance(price, float | list) else []
    print_found(split(rates, per_arm, budget, noise=1.0 if scale is None else scale), as_json)


@app.command()
def window(
    log: Log,
    *,
    action: Action,
    time: Annotated[str, column("Column: when was it decided?")],
    feedback_time: Annotated[str, column("Column: when did the reward come back?")],
    reward: Annotated[str, column("Column of rewards, empty if missing.")],
    learns: Learns,
    observed: Observed = None,
    now: Now = None,
    futures: Annotated[int, typer.Option(help="How many futures to simulate.")] = 60,
    where: Where = None,
    since: Since = None,
    until: Until = None,
    drop_arms: DropArms = None,
    table: TableName = None,
    encoding: Encoding = None,
    decimal: Decimal = ".",
    as_json: Json = False,
) -> None:
    """Show how long to wait for feedback."""
    from halfseen.cli.audit_console import print_found
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
        decimal=decimal,
        **row_options(where, since, until, drop_arms),
    )
    print_found(found, as_json)
