"""How long to wait for feedback: waiting longer sees more, and learns later."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from halfseen import checks
from halfseen.checks import Vector
from halfseen.errors import InvalidInput
from halfseen.logs.columns import Columns, is_dated
from halfseen.logs.counts import read_decisions
from halfseen.logs.row_filter import LeftOut, as_filter
from halfseen.logs.source import filled, open_log
from halfseen.logs.time_bins import DAY
from halfseen.tables import Table, table

SHARES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)


@dataclass(frozen=True)
class Window:
    """The trade between waiting and seeing.

    Attributes
    ----------
    waits
        How long one waits, in days if the log has dates, else in its own unit.
    share, dimension
        The share of rewards seen by then, and the effective dimension that leaves.
    open_decisions
        How many decisions are made while one waits.
    loss
        What a wait costs in decisions' worth of the mean gap: see `feedback_window`.
    best
        The place of the wait with the smallest loss; None if no gap was given.
    unit
        Of the waits.
    left_out
        Rows that a filter left out.
    """

    waits: Vector
    share: Vector
    dimension: Vector
    open_decisions: Vector
    loss: Vector | None
    best: int | None
    unit: str
    left_out: LeftOut | None = None

    @property
    def table(self) -> Table:
        """One row per wait."""
        records = []
        for i, wait in enumerate(self.waits):
            dimension = float(self.dimension[i])
            record: dict[str, Any] = {
                f"wait ({self.unit})": float(wait),
                "share seen": float(self.share[i]),
                "effective dimension": dimension if math.isfinite(dimension) else None,
                "decisions meanwhile": float(self.open_decisions[i]),
            }
            if self.loss is not None:
                loss = float(self.loss[i])
                record["regret at most"] = loss if math.isfinite(loss) else None
                record["best"] = "*" if i == self.best else ""
            records.append(record)
        return table(records)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        rows = [
            {key.partition(" (")[0].replace(" ", "_"): value for key, value in record.items()}
            for record in self.table
        ]
        best = None if self.best is None else float(self.waits[self.best])
        left_out = None if self.left_out is None else self.left_out.to_dict()
        return {"unit": self.unit, "best_wait": best, "waits": rows, "left_out": left_out}

    def __str__(self) -> str:
        first = ""
        if self.best is not None:
            wait = self.waits[self.best]
            first = (
                f"Wait {wait:.4g} {self.unit}: {self.share[self.best]:.0%} is seen by then, and"
                " the bound on the regret is smallest (a bound, not a forecast).\n\n"
            )
        if self.left_out is not None:
            first = f"{self.left_out}\n\n{first}"
        return (
            f"{first}{self.table}\n\nEmpty: some arm is not seen by then. It assumes that, given"
            " the arm, neither what goes missing nor when it comes depends on the reward."
        )


def feedback_window(
    log: Any,
    *,
    action: str,
    time: str,
    feedback_time: str,
    reward: str | None = None,
    observed: str | None = None,
    gap: float | None = None,
    noise: float = 1.0,
    where: str | None = None,
    since: Any = None,
    until: Any = None,
    drop_arms: Sequence[str] = (),
    table: str | None = None,
    encoding: str | None = None,
    decimal: str = ".",
) -> Window:
    r"""Tell what waiting for feedback costs and brings.

    .. math:: \text{regret}(w) = 4\sigma\sqrt{6\,d(w)\,T\log T} + \Delta\, m(w)

    Parameters
    ----------
    log, action, time, feedback_time, reward, observed, table, encoding, decimal
        As in `halfseen.audit`.
    where, since, until, drop_arms
        As in `halfseen.audit`.
    gap
        How much worse a wrong arm is, on average; without it no wait is called best.
    noise
        Standard deviation of the rewards.

    Returns
    -------
    Window
        For a range of waits, what is seen by then.

    Notes
    -----
    d(w) is the effective dimension when rewards later than w count as missing, T the rows of the
    log, and m(w) the number of decisions made while one waits, each of which may be wrong. The
    first term is the leading one of the closed bound for `UCB`; the second is the price of delay.
    Decisions made less than w before the end of the log have not had their time: not counted.

    References
    ----------
    Joulani, György, Szepesvári (2013), Online learning under delayed feedback.
    """
    columns = Columns(action, reward, observed, time, feedback_time)
    if gap is not None:
        gap = checks.number("gap", gap, above=0.0, fix="Use the difference of two arms' means.")
    noise = checks.number("noise", noise, above=0.0, fix="Use 1.")
    kept = as_filter(where, since, until, drop_arms)
    decisions = read_decisions(
        open_log(log, table=table, encoding=encoding, decimal=decimal), columns, kept
    )
    bins = decisions.bins
    if bins is None or bins.first == bins.last:
        raise InvalidInput("time", "must hold at least two times", time, "Name another column.")
    delays = decisions.log.query(
        "SELECT unnest(quantile_cont(feedback_time - time, "
        f"[{', '.join(map(str, SHARES))}])) AS wait, max(greatest(time, feedback_time)) AS last"
        f" FROM {decisions.sql} WHERE seen AND feedback_time >= time"
    )
    waits = np.unique(filled(delays["wait"])) if len(delays["wait"]) else np.empty(0)
    if not len(waits) or np.isnan(waits).any():
        raise InvalidInput(
            "feedback_time",
            "must come after `time` in some row whose reward was seen",
            feedback_time,
            "Name another column.",
        )
    end = max(float(filled(delays["last"])[0]), bins.last)
    waits = waits[waits < end - bins.first]
    asked = ", ".join(
        f"count(*) FILTER (time <= {end - w!r}) AS n{i}, count(*) FILTER (time <= {end - w!r}"
        f" AND seen AND feedback_time - time <= {w!r}) AS k{i}"
        for i, w in enumerate(waits.tolist())
    )
    found = decisions.log.query(
        f"SELECT {asked} FROM {decisions.sql} WHERE action IS NOT NULL GROUP BY action"
    )
    n = np.array([filled(found[f"n{i}"]) for i in range(len(waits))])
    k = np.array([filled(found[f"k{i}"]) for i in range(len(waits))])
    usable = (n > 0).all(axis=1)
    waits, n, k = waits[usable], n[usable], k[usable]
    with np.errstate(divide="ignore"):
        dimension = (n / k).sum(axis=1)
    rows = int(decisions.counts.rows.sum())
    meanwhile = waits * rows / (bins.last - bins.first)
    loss, best = None, None
    if gap is not None:
        length = math.log(max(rows, 2))
        loss = 4.0 * noise * np.sqrt(6.0 * dimension * rows * length) + gap * meanwhile
        best = int(np.argmin(loss))
    dated = is_dated(decisions.log, time)
    return Window(
        waits=waits / DAY if dated else waits,
        share=k.sum(axis=1) / n.sum(axis=1),
        dimension=dimension,
        open_decisions=meanwhile,
        loss=loss,
        best=best,
        unit="days" if dated else f"units of {time}",
        left_out=decisions.left_out,
    )
