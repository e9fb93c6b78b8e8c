"""Off-policy evaluation: the value of a policy from a log with missing rewards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from halfseen import checks
from halfseen.errors import InvalidInput
from halfseen.logs.columns import Columns
from halfseen.logs.counts import Decisions, read_decisions
from halfseen.logs.log_options import prepared
from halfseen.logs.row_filter import as_filter
from halfseen.logs.settled_rows import settled_rows
from halfseen.logs.source import open_log
from halfseen.logs.warnings.written_values import one_value
from halfseen.tables import listed
from halfseen.values.evaluation import Evaluation
from halfseen.values.influence import ESTIMATORS
from halfseen.values.log_groups import LogGroups, read_groups
from halfseen.values.nuisances import (
    OBSERVE,
    OUTCOME,
    NuisanceModel,
    known_column,
    known_rates,
)
from halfseen.values.overlap import check_policies, never_seen, rescaled
from halfseen.values.policy_value import PolicyValue
from halfseen.values.target_policy import LOGGING, Target, columns_of, policy_on


def value(
    log: Any,
    *,
    target: Target,
    action: str,
    reward: str,
    compare: Target | None = LOGGING,
    observed: str | None = None,
    propensity: str | None = None,
    context: str | None = None,
    features: Sequence[str] = (),
    observe: str | Mapping[str, float] | None = None,
    observe_column: str | None = None,
    outcome: str | None = None,
    estimator: str | None = None,
    threshold: float = 10.0,
    interval: str = "normal",
    resamples: int = 1000,
    seed: int = 0,
    level: float = 0.95,
    time: str | None = None,
    feedback_time: str | None = None,
    window: float | None = None,
    now: Any = None,
    empty_means: float | None = None,
    where: str | None = None,
    since: Any = None,
    until: Any = None,
    drop_arms: Sequence[str] = (),
    table: str | None = None,
    encoding: str | None = None,
    decimal: str = ".",
) -> PolicyValue:
    """Estimate what a policy would have earned, from a log in which rewards are missing.

    Parameters
    ----------
    log, action, reward, observed, time, window, now, empty_means, where, since, until, drop_arms
        As in `halfseen.audit`; so are table, encoding and decimal.
    feedback_time
        The column of times at which rewards came back. Decisions younger than the window, which may
        still be waiting, are left out, and rewards that came later than it count as missing; left
        out, the window is the delay within which 99% of the rewards that ever come are back.
    target
        The policy: probabilities by arm, as ``{"a": 0.7, "b": 0.3}``, or by context and arm, a
        column of its probability of the logged arm, or a function that takes the columns
        ``context`` and `features` as arrays and returns one array of probabilities per arm.
    compare
        The policy to compare it with; by default the one that made the log. None for none.
    propensity
        The column of logging probabilities; left out, shares of arms in each context stand in.
    context, features
        What decisions depended on: a column of groups, and numeric columns.
    observe
        How the probability of being seen is found: ``"cells"`` (arm and context), ``"arms"``,
        ``"logistic"`` or ``"trees"`` (cross-fitted on the features; they need scikit-learn), or
        known, by arm. By default logistic where there are features, else cells.
    observe_column
        A column of known probabilities of being seen.
    outcome
        How expected rewards are: ``"cells"``, ``"arms"``, ``"linear"`` or ``"trees"``.
    estimator
        One of ``halfseen.values.influence.ESTIMATORS``; DR where the policy's probabilities of all
        arms are known, else SNIPW.
    threshold
        Largest weight of the clipped estimators.
    interval
        ``"normal"``, by Student's quantile and longer on the side of large rewards where they are
        skewed, or ``"bootstrap"`` with so many `resamples` from `seed`.
    level
        Confidence level.

    Notes
    -----
    Invalid if, given arm and context or features, whether a reward is seen depends on its value;
    `PolicyValue.bounds` says how far it may.

    Examples
    --------
    >>> rows = {"arm": list("aabb") * 50, "paid": [1, None, 0, 1] * 50}
    >>> found = value(rows, target={"a": 1}, action="arm", reward="paid")
    >>> found.value, found.difference.value
    (1.0, 0.25)
    """
    asked = {name: given for name, given in locals().items() if name != "log"}
    settings = _checked_settings(asked)
    named = {"target": target, "compare": compare, "observe_column": observe_column}
    source = open_log(log, table=table, encoding=encoding, decimal=decimal, in_order=bool(features))
    for field, name in named.items():
        if isinstance(name, str) and name != LOGGING:
            source.column(field, name)
    extra = columns_of(*named.values())
    described: dict[str, Any] = {"context": context, "features": (*extra, *features)}
    columns = Columns(
        action, reward, observed, time, feedback_time, propensity=propensity, **described
    )
    source, notes = prepared(source, columns, window, now, empty_means)
    try:
        decisions = read_decisions(source, columns, as_filter(where, since, until, drop_arms))
    except InvalidInput as error:
        raise _by_option(error, named)
    decisions, settled = settled_rows(decisions, window, now)
    notes = [*notes, *settled]
    roles = {"target": target if isinstance(target, str) else None, "observe": observe_column}
    groups = _read(decisions, extra, roles)
    if drop_arms and propensity is not None:
        groups = rescaled(groups)
        notes = [*notes, "Propensities are renormalised over the remaining arms."]
    flagged, told = _odd_rows(decisions)
    found = _evaluated(groups, asked, settings)
    left, name = decisions.left_out, decisions.log.name
    found = replace(
        found, warnings=(*flagged, *found.warnings), notes=(*notes, *told, *found.notes)
    )
    return replace(found, log=name, left_out=left, asked=asked)


def _odd_rows(decisions: Decisions) -> tuple[list[str], list[str]]:
    """Return a warning of rows that contradict themselves, and notes of what is not used."""
    counts = decisions.counts
    empty, unused = int(counts.contradicting.sum()), int(counts.hidden.sum())
    warnings, notes = [], []
    if empty:
        warnings.append(
            f"{empty:,} of the rows marked as observed have no reward and count as missing. If an"
            " empty reward stands for 0, write 0."
        )
    if counts.unnamed:
        notes.append(f"{counts.unnamed:,} rows name no arm and are left out.")
    if unused:
        notes.append(f"{unused:,} rewards of rows marked as not observed are not used.")
    return warnings, notes


def _by_option(error: InvalidInput, named: Mapping[str, Any]) -> InvalidInput:
    """Return an error about a column under the option that named it: all are read as features."""
    for field, name in named.items():
        if error.field == "features" and str(error.value).endswith(f"in column {name}"):
            return InvalidInput(field, error.requirement, error.value, error.fix)
    return error


def _checked_settings(asked: Mapping[str, Any]) -> dict[str, Any]:
    if asked["estimator"] is not None:
        checks.one_of("estimator", asked["estimator"], ESTIMATORS)
    return {
        "estimator": asked["estimator"],
        "threshold": checks.number("threshold", asked["threshold"], above=0.0, fix="Use 10."),
        "interval": checks.one_of("interval", asked["interval"], ("normal", "bootstrap")),
        "resamples": checks.whole("resamples", asked["resamples"], at_least=20, fix="Use 1000."),
        "seed": checks.seed("seed", asked["seed"]),
        "level": checks.number("level", asked["level"], above=0.0, below=1.0, fix="Use 0.95."),
    }


def _evaluated(
    groups: LogGroups, asked: Mapping[str, Any], settings: Mapping[str, Any]
) -> PolicyValue:
    model = _model(
        groups, asked["observe"], asked["observe_column"], asked["outcome"], bool(asked["time"])
    )
    fit = model.fit(groups)
    policies = [policy_on(groups, "target", asked["target"], fit.propensity)]
    unknown = never_seen(groups) if asked["compare"] == LOGGING else []
    if asked["compare"] is not None and not unknown:
        policies.append(policy_on(groups, "compare", asked["compare"], fit.propensity))
    warnings = check_policies(groups, policies, model, fit)
    if unknown:
        warnings.append(
            f"No reward was seen of {listed(unknown)}, which the logging policy plays: there is no"
            " comparison with it."
        )
    found = Evaluation(groups, model, fit, policies, settings["threshold"], settings["level"])
    options = {}
    if settings["interval"] == "bootstrap":
        options = {name: settings[name] for name in ("resamples", "seed")}
    result = found.result(settings["estimator"], options)
    return replace(
        result,
        notes=tuple(found.notes(bool(options), result.interval == "bootstrap")),
        warnings=(*warnings, *result.diagnostics.troubles),
    )


def _read(decisions: Decisions, extra: tuple[str, ...], roles: Mapping[str, Any]) -> LogGroups:
    if not decisions.counts.seen.any():
        raise InvalidInput(
            "reward",
            "must hold at least one reward, or no policy has a value",
            f"none in {int(decisions.counts.rows.sum()):,} rows",
            "Name the column of rewards.",
        )
    void = one_value(decisions)
    if void is not None:
        raise InvalidInput(
            "reward",
            "must hold rewards, not only whether they were seen",
            void.finding,
            f"{void.effect} {void.remedy}",
        )
    if decisions.counts.rows.sum() < 2:
        raise InvalidInput("log", "must hold at least two decisions", 1, "Give a longer log.")
    return read_groups(decisions, extra, **roles)


def _model(
    log: LogGroups, observe: Any, column: str | None, outcome: str | None, by_time: bool
) -> NuisanceModel:
    known = None
    if column is not None:
        if observe is not None:
            raise InvalidInput("observe", "cannot come with `observe_column`", observe, "Give one.")
        known = known_column(log, column)
    if isinstance(observe, Mapping):
        known, observe = known_rates(log, observe), None
    observe = observe or ("logistic" if log.by_row else "cells")
    outcome = outcome or ("linear" if log.by_row else "cells")
    for field, given, choices in (("observe", observe, OBSERVE), ("outcome", outcome, OUTCOME)):
        checks.one_of(field, given, choices)
        if not log.by_row and given not in ("cells", "arms"):
            raise InvalidInput(field, "needs `features`", given, "Name columns, or use cells.")
    return NuisanceModel(observe, outcome, known, by_time)
