"""What changed between two audits, beyond chance."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from halfseen.checks import Vector
from halfseen.display import Shown
from halfseen.errors import InvalidInput, StorageError
from halfseen.logs.option_names import option
from halfseen.logs.sentences import shortened
from halfseen.logs.time_bins import moment_in_words
from halfseen.tables import Z95, listed, percent

if TYPE_CHECKING:
    from halfseen.logs.audit import Audit
    from halfseen.logs.dimension import Dimension

SCHEMA_VERSION = 1  # version of an audit's JSON: raised when a key is removed or changes meaning
CHANCE = 1e-3  # probability that anything is called changed if nothing did
FEW = 5.0  # expected counts below which Fisher's exact test is used
SHOWN = 10


@dataclass(frozen=True, repr=False)
class RateChange(Shown):
    """The rate of an arm, or of all, before and now.

    Attributes
    ----------
    arm
        Its name; None for all arms together.
    before, now
        The share seen.
    chance
        The p-value of the test that nothing changed.
    """

    arm: str | None
    before: float
    now: float
    chance: float


@dataclass(frozen=True, repr=False)
class Comparison(Shown):
    """What changed since an earlier audit.

    Attributes
    ----------
    rates
        Rates that changed, the smallest p-value first.
    new, vanished
        Arms that only one of the two audits has; None if the earlier one does not list all.
    factor
        The factor before and now if it changed, else None.
    tested
        How many rates and factors were compared; each at `level` divided by that number.
    level
        The chance that anything is reported if nothing changed.
    same
        True if both audits have the same counts and means of every arm.
    overlap
        The first and the last moment that lie in the periods of both audits; None if none is known
        to.
    dated
        Whether these are seconds since 1970.
    """

    rates: tuple[RateChange, ...]
    new: tuple[str, ...] | None
    vanished: tuple[str, ...] | None
    factor: tuple[float, float] | None
    tested: int
    level: float = CHANCE
    same: bool = False
    overlap: tuple[float, float] | None = None
    dated: bool = False

    @property
    def changes(self) -> int:
        """How many things changed."""
        arms = len(self.new or ()) + len(self.vanished or ())
        return len(self.rates) + arms + (self.factor is not None)

    @property
    def findings(self) -> tuple[str, ...]:
        """What changed, in sentences."""
        words = [] if self.overlap is None else [self._overlapping(self.overlap)]
        for change in self.rates[:SHOWN]:
            name = "all arms together" if change.arm is None else shortened(change.arm)
            words.append(
                f"The share seen of {name} went from {change.before:.1%} to {change.now:.1%}."
            )
        if len(self.rates) > SHOWN:
            words.append(f"{len(self.rates) - SHOWN:,} more rates changed.")
        if self.factor is not None:
            words.append(f"The factor went from {self.factor[0]:.3g} to {self.factor[1]:.3g}.")
        words += [f"New: {listed(self.new)}."] if self.new else []
        words += [f"Gone: {listed(self.vanished)}."] if self.vanished else []
        if not self.changes:
            words.append("Nothing changed beyond chance.")
        if self.new is None:
            words.append(
                "The earlier audit does not list all arms, so new ones cannot be identified."
            )
        if self.same:
            words.append("Every arm has the same counts and mean: these seem to be the same rows.")
        return tuple(words)

    def _overlapping(self, ends: tuple[float, float]) -> str:
        first, last = (moment_in_words(end, self.dated) for end in ends)
        start = after(ends[1], self.dated)
        return (
            f"Both audits have decisions from {first} to {last}: if they are the same ones, these"
            f" probabilities are wrong. Then audit the new part ({option('since', start)})."
        )

    @property
    def how(self) -> str:
        """The method and its assumptions."""
        return (
            f"{self.tested:,} rates and factors were compared; if nothing changed, one is listed"
            f" here with a probability of at most {percent(self.level)}. Both audits must use"
            f" different rows: for a growing log, audit the new part ({option('since')})."
        )

    def __str__(self) -> str:
        return "Since the earlier audit: " + " ".join([*self.findings, self.how])

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "rates": [vars(change) for change in self.rates],
            "new": None if self.new is None else list(self.new),
            "vanished": None if self.vanished is None else list(self.vanished),
            "factor": None
            if self.factor is None
            else {"before": self.factor[0], "now": self.factor[1]},
            "tested": self.tested,
            "level": self.level,
            "same_rows": self.same,
            "overlap": None if self.overlap is None else list(self.overlap),
        }


def compare(found: Audit, before: Any, *, level: float = CHANCE) -> Comparison:
    """Return what changed since an earlier audit.

    Parameters
    ----------
    found
        The audit of now.
    before
        An earlier one: what `Audit.to_dict` returned, or the path of a file that holds it.
    level
        The chance that anything is reported if nothing changed.

    Returns
    -------
    Comparison
        Rates, arms and the factor that changed.

    Notes
    -----
    Two rates are compared by the chi-square test with Yates's correction, or by Fisher's exact
    test where an expected count is below 5; the factors by the normal law of their logarithms that
    their intervals imply. Each is tested at the level divided by the number of tests.

    Examples
    --------
    >>> from halfseen import audit
    >>> log = {"offer": ["a"] * 100, "sold": [1.0] * 100}
    >>> gone = {"offer": ["a"] * 100, "sold": [1.0, None] * 50}
    >>> now, then = (audit(x, action="offer", reward="sold") for x in (gone, log))
    >>> compare(now, then.to_dict()).rates[0].now
    0.5
    """
    old = before if isinstance(before, dict) else read_audit(before)
    try:
        then = {row["arm"]: _counts(row, row["rate"]) for row in old["rates"]}
        arms = int(old["effective_dimension"]["arms"])
        all_then = _counts(old, old.get("share"))
        whole = old["effective_dimension"]
        whole = whole | (whole.get("of_arms_seen") or {})
        ends = [whole.get(key) for key in ("value", "low", "high", "arms")]
    except (KeyError, TypeError, ValueError):
        raise InvalidInput(
            "compare", "must be an audit as `halfseen audit --json` prints it", before, "Check it."
        ) from None
    _check_options(options_as_dict(found.asked), old.get("options"))
    _check_window(found, old.get("maturity"))
    place = {name: i for i, name in enumerate(found.arms)}
    common = [name for name in then if name in place]
    tested: list[tuple[str | None, float, float, float, float]] = []
    if len(found.arms) > 1 or arms > 1:
        worth = float(found.effective_rows.sum())
        tested.append((None, *all_then, worth, found.share * worth))
    for name in common:
        rows, seen = found.effective_rows[place[name]], found.effective_seen[place[name]]
        tested.append((name, *then[name], float(rows), float(seen)))
    counts = np.array([row[1:] for row in tested], dtype=float).reshape(-1, 4)
    chances = two_rates(counts[:, 1], counts[:, 0], counts[:, 3], counts[:, 2])
    number = len(tested) + 1
    changed = [
        RateChange(row[0], row[2] / row[1], row[4] / row[3], float(chance))
        for row, chance in zip(tested, chances, strict=True)
        if chance < level / number
    ]
    complete = len(then) == arms
    return Comparison(
        rates=tuple(sorted(changed, key=lambda change: change.chance)),
        new=tuple(name for name in found.arms if name not in then) if complete else None,
        vanished=tuple(name for name in then if name not in place) if complete else None,
        factor=_factor_change(found.headline_dimension, ends, level / number),
        tested=number,
        level=level,
        overlap=_overlap(found, old.get("period")),
        dated=found.dated,
        same=_same_rows(found, old["rates"], arms),
    )


def after(time: float, dated: bool) -> str:
    """Write a moment just after another as the option takes it: that counts the first moment.

    >>> after(86400.5, True), after(900.0, False), after(0.5, False)
    ('1970-01-02 00:00:01', '901', '0.5000000000000001')
    """
    if dated:
        return f"{datetime.fromtimestamp(math.floor(time) + 1, UTC):%Y-%m-%d %H:%M:%S}"
    return f"{time + 1:.0f}" if time == round(time) else repr(math.nextafter(time, math.inf))


def _overlap(found: Audit, before: Any) -> tuple[float, float] | None:
    """Return the moments that lie in the periods of both audits, or None."""
    if found.period is None or not isinstance(before, dict) or before["dated"] != found.dated:
        return None
    first = max(found.period[0], float(before["first"]))
    last = min(found.period[1], float(before["last"]))
    return (first, last) if first <= last else None


def options_as_dict(asked: dict[str, Any]) -> dict[str, Any] | None:
    """Return the options that decide what an audit counts; None where they are not known.

    Columns may be named differently in another log, so of them only whether they were named.
    """
    if not asked:
        return None
    named = {name: asked.get(name) is not None for name in ("reward", "observed", "feedback_time")}
    drop = sorted(map(str, asked.get("drop_arms") or ()))
    values = {name: asked.get(name) for name in ("window", "empty_means", "where")}
    return {**named, **values, "drop_arms": drop}


def _check_options(now: dict[str, Any] | None, before: Any) -> None:
    """Refuse to compare audits that were asked with other options."""
    if now is None or not isinstance(before, dict):
        return
    for name, value in now.items():
        if name in before and before[name] != value:
            raise InvalidInput(
                "compare",
                "must be an audit with the same options, otherwise their change looks like one of"
                " the log",
                f"{name} {_shown(before[name])} then and {_shown(value)} now",
                "Audit both logs the same way.",
            )


def _shown(value: Any) -> str:
    words = {True: "named", False: "not named", None: "left out"}
    return words[value] if value is None or isinstance(value, bool) else repr(value)


def _counts(record: dict[str, Any], rate: float | None) -> tuple[float, float]:
    """Return rows and rewards seen, those that a rate within a window is worth."""
    rows, seen = float(record["rows"]), float(record["seen"])
    worth = record.get("effective_rows")
    return (rows, seen) if worth is None or rate is None else (float(worth), rate * float(worth))


def _check_window(found: Audit, before: Any) -> None:
    """Refuse to compare rates within different windows, unless next to nothing comes later."""
    now = found.maturity
    if now is None or not isinstance(before, dict):
        return
    window, then = now.to_dict()["window"], float(before["window"])
    if abs(window - then) > 0.01 * then and not (now.reached and before["reached"]):
        raise InvalidInput(
            "compare",
            "must have rates within the same window, as rewards still come after it",
            f"{then:.3g} {before['unit']} then and {window:.3g} now",
            f"Audit both logs with the same {option('window')}.",
        )


def _same_rows(found: Audit, before: list[dict[str, Any]], arms: int) -> bool:
    """Return whether every arm has the same counts and mean as before."""
    if not len(before) == arms == len(found.arms):
        return False
    counts = found.counts
    means = [None if math.isnan(mean) else mean for mean in counts.mean.tolist()]
    now = zip(found.arms, counts.rows.tolist(), counts.seen.tolist(), means, strict=True)
    keys = ("arm", "rows", "seen", "mean_reward")
    return {tuple(row.get(key) for key in keys) for row in before} == set(now)


def read_audit(path: Any) -> dict[str, Any]:
    """Return the content of an audit's JSON file, or of the one in an audit's folder."""
    file = Path(path)
    file = file / "audit.json" if file.is_dir() else file
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise StorageError(f"Cannot read {file}: {error.strerror}. Check the path.") from None
    except ValueError:
        content = None
    if not isinstance(content, dict):
        raise InvalidInput("compare", "must be a JSON file of an audit", str(file), "Check it.")
    version = content.get("schema_version", SCHEMA_VERSION)
    if version != SCHEMA_VERSION:
        raise InvalidInput(
            "compare",
            f"must be an audit with schema_version {SCHEMA_VERSION}",
            f"{version!r} in {file}",
            "Audit that log again with this version of halfseen.",
        )
    return content


def two_rates(k: Vector, n: Vector, seen: Vector, rows: Vector) -> Vector:
    """Return two-sided p-values of equal rates, for each pair of k of n and seen of rows.

    >>> two_rates(*(np.array([x]) for x in (50.0, 100.0, 70.0, 100.0))).round(4).tolist()
    [0.0061]
    """
    from scipy.special import chdtrc
    from scipy.stats import fisher_exact

    total, hits = n + rows, k + seen
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = np.outer(hits, [1, 1]) * np.column_stack([n, rows]) / total[:, None]
        missed = np.column_stack([n, rows]) - expected
        off = np.maximum(np.abs(k - expected[:, 0]) - 0.5, 0.0)
        chi = off**2 * (1.0 / expected + 1.0 / missed).sum(axis=1)
    chance = np.where(np.isfinite(chi), chdtrc(1.0, np.nan_to_num(chi)), 1.0)
    for i in np.flatnonzero(np.minimum(expected, missed).min(axis=1) < FEW):
        pairs = ((k[i], n[i] - k[i]), (seen[i], rows[i] - seen[i]))
        cells = [[round(float(count)) for count in pair] for pair in pairs]
        chance[i] = fisher_exact(cells).pvalue
    return np.asarray(chance)


def _factor_change(
    whole: Dimension, before: list[float | None], chance: float
) -> tuple[float, float] | None:
    """Return both factors if they differ by more than their intervals allow."""
    from scipy.special import ndtr

    centres, errors = [], []
    now: list[float | None] = [whole.value, whole.low, whole.high, whole.arms]
    for ends in (before, now):
        value, low, high, size = (math.nan if end is None else float(end) for end in ends)
        if not (math.isfinite(value + low + high) and min(value, low) > 0.0):
            return None
        centres.append(math.log(value / size))
        errors.append((math.log(high) - math.log(low)) / (2.0 * Z95))
    spread = math.hypot(*errors)
    gap = abs(centres[1] - centres[0])
    if gap == 0.0 or (spread > 0.0 and 2.0 * float(ndtr(-gap / spread)) >= chance):
        return None
    return math.exp(centres[0]), math.exp(centres[1])
