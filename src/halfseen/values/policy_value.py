"""The value of a policy: estimates, difference, diagnostics, bounds, and a verdict."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from halfseen import checks
from halfseen.display import Tabular
from halfseen.equality import ByValue
from halfseen.errors import InvalidInput
from halfseen.logs.audit_export import plain
from halfseen.logs.missing_bounds import SHOWN
from halfseen.logs.row_filter import LeftOut
from halfseen.phrases import number
from halfseen.tables import PLAIN, Table, level_name, show, table
from halfseen.values.value_bounds import Bounded, GammaBounds
from halfseen.values.weight_diagnostics import Diagnostics

if TYPE_CHECKING:
    import altair as alt

SCHEMA_VERSION = 1
SAME = 1e-9  # weights of two policies that differ by less are those of one
BY_CELLS = (
    "Bounds weight rewards by propensities only, so at 1 they need not equal the estimate above."
)
BY_FEATURES = (
    "Bounds start from DR at 1 and rest on the regression of rewards: if it is wrong, those of"
    " rewards of two values are too wide, and others may be off."
)


@dataclass(frozen=True)
class Estimate:
    """An estimate with its standard error and interval; NaN where there is none.

    Attributes
    ----------
    name
        Of the policy or the estimator.
    value, standard_error, low, high
        The numbers.
    """

    name: str
    value: float
    standard_error: float
    low: float
    high: float


@dataclass(frozen=True, eq=False, repr=False)
class PolicyValue(Tabular, ByValue):
    """What a policy would have earned per decision.

    Attributes
    ----------
    estimator, level, interval, threshold
        How it was estimated.
    target, compared, difference
        The policy, the one it is compared with and their paired difference; None if there is none.
    alternatives
        The policy's value by every estimator, with normal intervals.
    certain
        Lower bound by Maurer and Pontil's inequality on clipped IPW, which holds for every sample
        size if propensities and probabilities of being seen are right; None if shares of arms stand
        in for propensities, rewards can be negative or the mean weight is far from 1.
    diagnostics
        Diagnostics of the weights.
    tipping_gamma
        The smallest Gamma at which the difference may be 0; infinite if none is large enough.
    rows, seen
        Decisions, and rewards seen.
    log, warnings, notes, left_out, asked
        The source, warnings and notes.
    """

    FILE: ClassVar[str] = "value.json"  # marks a folder as that of a value
    _frame = "policies"

    estimator: str
    level: float
    interval: str
    threshold: float
    target: Estimate
    compared: Estimate | None
    difference: Estimate | None
    alternatives: tuple[Estimate, ...]
    certain: float | None
    diagnostics: Diagnostics
    tipping_gamma: float | None
    rows: int
    seen: int
    bounded: tuple[Bounded, Bounded | None] = field(repr=False)
    log: str = ""
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    left_out: LeftOut | None = None
    asked: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def value(self) -> float:
        """The policy's value per decision."""
        return self.target.value

    @property
    def standard_error(self) -> float:
        """Its standard error."""
        return self.target.standard_error

    @property
    def low(self) -> float:
        """Lower end of its interval."""
        return self.target.low

    @property
    def high(self) -> float:
        """Upper end of its interval."""
        return self.target.high

    def bounds(self, gamma: float = 2.0, *, difference: bool = False) -> GammaBounds:
        """Bound the value, or the difference, if missing rewards differ from the seen ones.

        Parameters
        ----------
        gamma
            How many times the odds of being seen differ at most between two rewards of an arm in
            a context; infinite if missing rewards can be anything between the extremes seen.
        difference
            Whether to bound the difference of the two policies instead.
        """
        if gamma != math.inf:
            gamma = checks.number("gamma", gamma, at_least=1.0, fix="Use 2, or infinity.")
        bounded = self.bounded[1 if difference else 0]
        if bounded is None:
            raise InvalidInput(
                "difference", "needs a policy to compare with", None, "Give `compare`."
            )
        return bounded.at(gamma)

    @cached_property
    def estimates(self) -> Table:
        """The value by every estimator."""
        return table([_row("estimator", one, self.level) for one in self.alternatives])

    @cached_property
    def policies(self) -> Table:
        """The policies and their difference, by the chosen estimator."""
        both = (self.target, self.compared, self.difference)
        return table([_row("policy", one, self.level) for one in both if one is not None])

    @cached_property
    def sensitivity(self) -> Table:
        """The bounds at a few Gammas and in the worst case."""
        records = []
        for gamma in (1.0, *SHOWN, math.inf):
            one = self.bounds(gamma)
            row: dict[str, Any] = {
                "odds differ": "any way" if math.isinf(gamma) else f"{gamma:g} times",
                "value at least": one.low,
                "at most": one.high,
            }
            if self.difference is not None:
                apart = self.bounds(gamma, difference=True)
                row |= {"difference at least": apart.low, "difference at most": apart.high}
            records.append(row)
        return table(records)

    @property
    def verdict(self) -> str:
        """Which policy is better, or that the log cannot tell, in sentences."""
        apart = self.bounded[1]
        if self.compared is not None and apart is not None and np.abs(apart.weight).max() < SAME:
            return f"On this log it is the same policy as {self.compared.name}."
        if self.diagnostics.troubles:
            return self.diagnostics.verdict
        if self.difference is None or self.compared is None:
            return self.diagnostics.verdict
        found, level = self.difference, level_name(self.level)
        ends = f"{level} interval {number(found.low)} to {number(found.high)}"
        other = self.compared.name
        if not found.low <= found.high:
            return f"{self.estimator} has no interval, so it cannot tell which policy is better."
        if found.low > 0.0 or found.high < 0.0:
            word, sign = ("more", found.value) if found.low > 0.0 else ("less", -found.value)
            said = f"It earns {number(sign)} a decision {word} than {other} ({ends})."
            return f"{said} {self.turning}".rstrip()
        return f"The log cannot tell whether it earns more than {other} (difference {ends})."

    @property
    def turning(self) -> str:
        """The Gamma at which the order of the policies is open."""
        gamma = self.tipping_gamma
        if gamma is None or self.seen == self.rows:
            return ""
        if math.isinf(gamma):
            worst = self.bounds(math.inf, difference=True)
            if worst.low <= 0.0 <= worst.high:
                return (
                    "The order is open if missing rewards can be values that were never seen of an"
                    f" arm (difference {number(worst.low)} to {number(worst.high)})."
                )
            return "That order holds whatever the missing rewards are."
        return (
            f"The order is open once the odds of being seen differ {number(gamma)}-fold between"
            f" rewards of an arm {self.bounded[0].given}."
        )

    @property
    def bounds_note(self) -> str:
        """The assumptions of the bounds, in sentences."""
        said = BY_FEATURES if self.asked.get("features") else BY_CELLS
        return f"{said} “Any way”: missing rewards can be anything between the extremes seen."

    @property
    def assumption(self) -> str:
        """The assumptions of the estimates, in a sentence or two."""
        given = "the features" if self.asked.get("features") else "the context"
        return (
            f"All of this assumes that, given the arm and {given}, whether a reward is seen does"
            " not depend on the reward. The bounds show what remains if it does."
        )

    @property
    def answers(self) -> tuple[str, ...]:
        """The answer in sentences."""
        share = 100.0 * self.seen / self.rows
        first = (
            f"{self.target.name[:1].upper()}{self.target.name[1:]} is worth {number(self.value)}"
        )
        if self.low <= self.high:
            first += f" a decision ({level_name(self.level)} interval {number(self.low)} to"
            first += f" {number(self.high)})"
        first += f", by {self.estimator} from {self.rows:,} decisions of which {share:.3g}% are"
        return f"{first} seen.", self.verdict

    def summary(self) -> str:
        """Return warnings, the answer, the tables and the diagnostics as text."""
        parts = [f"Warning: {said}" for said in self.warnings]
        parts += ["\n".join(self.answers)]
        parts += [] if self.left_out is None else [str(self.left_out)]
        parts += [str(self.policies), str(self.estimates)]
        if self.certain is not None:
            parts.append(
                f"Certain at {level_name(self.level)} whatever the law of rewards up to the largest"
                " seen, if propensities and probabilities of being seen are right (clipped IPW,"
                f" Maurer-Pontil): at least {show(self.certain)}."
            )
        if self.seen < self.rows:
            differ = f"If missing rewards differ from seen ones:\n{self.sensitivity}"
            parts.append(f"{differ}\n{self.bounds_note}")
        checked = self.diagnostics
        k = "not fitted" if checked.pareto_k is None else f"{checked.pareto_k:.2f}"
        parts.append(
            f"Weights: mean {checked.mean_weight:.4g} (z {checked.z:z.2f}), effective decisions"
            f" {checked.effective_rows:,.4g} ({checked.effective_rows_actions:,.4g} if nothing were"
            f" missing), largest share {checked.largest_share:.2%}, smallest propensity"
            f" {checked.smallest_propensity:.3g}, Pareto k {k}."
        )
        parts += [f"Note: {note}" for note in self.notes]
        return "\n\n".join([*parts, self.assumption])

    def __str__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        said = [f"Warning: {text}" for text in self.warnings] + list(self.answers)
        words = "".join(f"<p{PLAIN}>{escape(text)}</p>" for text in said)
        tables = {
            "": self.policies,
            "<p>By every estimator:</p>": self.estimates,
            "<p>If missing rewards differ from seen ones:</p>": self.sensitivity,
        }
        shown = (head + one._repr_html_() for head, one in tables.items())
        return words + "".join(shown)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values; infinite and unknown values become None."""
        content: dict[str, Any] = plain(
            {
                "schema_version": SCHEMA_VERSION,
                "log": self.log,
                "options": {name: _written(given) for name, given in self.asked.items()},
                "rows": self.rows,
                "seen": self.seen,
                "left_out": None if self.left_out is None else self.left_out.to_dict(),
                "answers": list(self.answers),
                "verdict": self.verdict,
                "warnings": list(self.warnings),
                "notes": list(self.notes),
                "estimator": self.estimator,
                "level": self.level,
                "interval": self.interval,
                "threshold": self.threshold,
                "value": asdict(self.target),
                "compared": None if self.compared is None else asdict(self.compared),
                "difference": None if self.difference is None else asdict(self.difference),
                "estimates": [asdict(one) for one in self.alternatives],
                "certain": self.certain,
                "diagnostics": self.diagnostics.to_dict(),
                "bounds": [self._both(gamma) for gamma in (1.0, *SHOWN, math.inf)],
                "tipping_gamma": self.tipping_gamma,
            }
        )
        return content

    def _both(self, gamma: float) -> dict[str, Any]:
        found = {"gamma": gamma, "worst_case": math.isinf(gamma), "value": self._bound(gamma)}
        if self.difference is not None:
            found["difference"] = self._bound(gamma, difference=True)
        return found

    def _bound(self, gamma: float, **which: bool) -> dict[str, Any]:
        one = self.bounds(gamma, **which)
        low, high = one.interval(self.level)
        found = {k: getattr(one, k) for k in ("low", "high", "low_error", "high_error")}
        return found | {"interval_low": low, "interval_high": high}

    def plot(self, what: str = "policies") -> alt.Chart:
        """Return a chart of the report.

        Parameters
        ----------
        what
            ``"policies"``, their values; ``"estimates"``, the value by every estimator; or
            ``"differ"``, the bounds if missing rewards differ.
        """
        from halfseen.report.value.value_charts import value_chart

        return value_chart(self, what)

    def report(self, folder: Path | str) -> Path:
        """Write a page to open in a browser, its charts, and the numbers as files.

        Parameters
        ----------
        folder
            Where to write ``report.html``, ``value.json`` and ``charts``: new, empty, or another
            value's, which is replaced.
        """
        from halfseen.report.value.page import write_value

        return write_value(self, Path(folder))


def value_schema() -> dict[str, Any]:
    """Return the JSON Schema of a value's JSON.

    Examples
    --------
    >>> value_schema()["properties"]["schema_version"]["const"] == SCHEMA_VERSION
    True
    """
    text = files("halfseen.values").joinpath("value.schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


def _row(title: str, one: Estimate, level: float) -> dict[str, Any]:
    numbers = {
        "value": one.value,
        "standard error": one.standard_error,
        f"{level_name(level)} low": one.low,
        "high": one.high,
    }
    return {title: one.name} | {
        name: None if math.isnan(number) else number for name, number in numbers.items()
    }


def _written(given: Any) -> Any:
    """Return an option as JSON can hold it; of a function its name."""
    if isinstance(given, Mapping):
        return {str(name): _written(entry) for name, entry in given.items()}
    if isinstance(given, list | tuple):
        return [_written(entry) for entry in given]
    if given is None or isinstance(given, bool | int | float | str):
        return given
    return getattr(given, "__name__", str(given))
