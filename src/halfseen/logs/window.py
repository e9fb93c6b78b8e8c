"""How long to wait for feedback: a longer wait sees more rewards, but may delay learning."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from halfseen import checks
from halfseen.checks import Vector
from halfseen.display import Tabular
from halfseen.equality import ByValue
from halfseen.errors import InvalidInput
from halfseen.logs.columns import Columns, is_dated
from halfseen.logs.counts import Counts, Decisions, read_decisions
from halfseen.logs.log_options import moment
from halfseen.logs.maturity import Maturity, estimate_maturity
from halfseen.logs.posterior import draw_means
from halfseen.logs.queries import text
from halfseen.logs.row_filter import LeftOut, as_filter
from halfseen.logs.source import open_log
from halfseen.logs.time_bins import DAY
from halfseen.logs.waits import delay_quantiles, simulate_waits
from halfseen.logs.waits_differ import objection
from halfseen.tables import Table, listed, show, table

if TYPE_CHECKING:
    import altair as alt

SHARES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)
LEARNS = ("on-arrival", "when-settled")
FUTURES = 60
FEW = 30  # fewest rewards for a recommendation
ROUNDS = 50_000  # decisions per future at most; longer logs are thinned


@dataclass(frozen=True, eq=False, repr=False)
class Window(Tabular, ByValue):
    """The trade-off between waiting and seeing more.

    Attributes
    ----------
    learns
        "on-arrival", a reward is used when it comes; "when-settled", when the wait is over.
    waits
        How long one waits, in days if the log has dates, else in its own unit.
    share
        The share of rewards back by then.
    regret, error
        Reward lost over the log's decisions, the mean of simulated futures, and the standard error
        of its difference to the smallest; None where nothing can be advised.
    best, as_good
        The place of the smallest regret, and the places around it no worse within noise and 2%.
    unit
        Unit of the waits.
    left_out
        Rows that a filter left out.
    never_seen
        Arms of which no reward was seen.
    thinned
        One in so many decisions was simulated.
    objection
        Why no wait can be recommended; empty otherwise.
    """

    learns: str
    waits: Vector
    share: Vector
    regret: Vector | None
    error: Vector | None
    best: int | None
    as_good: tuple[int, ...]
    unit: str
    left_out: LeftOut | None = None
    never_seen: tuple[str, ...] = ()
    thinned: int = 1
    objection: str = ""

    @property
    def table(self) -> Table:
        """One row per wait."""
        records = []
        for i, wait in enumerate(self.waits):
            record: dict[str, Any] = {
                f"wait ({self.unit})": float(wait),
                "share seen": float(self.share[i]),
            }
            if self.regret is not None and self.error is not None:
                record["regret"] = float(self.regret[i])
                record["± to the best"] = float(self.error[i])
                mark = "*" if i == self.best else "as good" if i in self.as_good else ""
                record["best"] = mark
            records.append(record)
        return table(records)

    def plot(self) -> alt.Chart:
        """Return a chart of what is lost, or else seen, by how long one waits."""
        from halfseen.report.audit.window_chart import window_chart

        return window_chart(self)

    @property
    def advice(self) -> str:
        """How long to wait, in a sentence, or why no wait is recommended."""
        if self.best is None:
            return self.objection
        waits = self.waits[list(self.as_good)]
        if self.learns == "on-arrival":
            return (
                "A learner that uses rewards when they come: keep waiting as long as you can;"
                f" beyond {show(float(waits.min()))} {self.unit} nothing is gained."
            )
        others = ""
        if len(waits) > 1:
            others = f" ({show(float(waits.min()))} to {show(float(waits.max()))} are as good)"
        return (
            "A learner that uses rewards when the wait is over: wait"
            f" {show(float(self.waits[self.best]))} {self.unit}{others}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        regret, error = (
            [None] * len(self.waits) if v is None else v.tolist() for v in (self.regret, self.error)
        )
        return {
            "unit": self.unit,
            "learns": self.learns,
            "advice": self.advice,
            "best_wait": None if self.best is None else float(self.waits[self.best]),
            "as_good": [float(self.waits[i]) for i in self.as_good],
            "never_seen": list(self.never_seen),
            "left_out": None if self.left_out is None else self.left_out.to_dict(),
            "one_in": self.thinned,
            "waits": [
                {
                    "wait": float(wait),
                    "share_seen": float(self.share[i]),
                    "regret": regret[i],
                    "error": error[i],
                }
                for i, wait in enumerate(self.waits)
            ],
        }

    def _details(self) -> list[str | Table]:
        return [self.table]

    def __str__(self) -> str:
        more = []
        if self.left_out is not None:
            more.append(f"{self.left_out}")
        if self.never_seen:
            more.append(f"Left out, as never seen: {listed(self.never_seen)}.")
        if self.thinned > 1:
            more.append(f"Simulated with one in {self.thinned:,} decisions.")
        more.append(
            "It assumes that, given the arm, neither what goes missing nor when it comes depends"
            " on the reward."
        )
        return f"{self.advice}\n\n{self.table}\n\n{' '.join(more)}"


def feedback_window(
    log: Any,
    *,
    action: str,
    time: str,
    feedback_time: str,
    reward: str,
    learns: str,
    observed: str | None = None,
    now: Any = None,
    futures: int = FUTURES,
    seed: int = 0,
    where: str | None = None,
    since: Any = None,
    until: Any = None,
    drop_arms: Sequence[str] = (),
    table: str | None = None,
    encoding: str | None = None,
    decimal: str = ".",
) -> Window:
    """Find how long to wait for feedback, by simulating a learner that waits.

    Parameters
    ----------
    log, action, time, feedback_time, reward, observed, now, table, encoding, decimal
        As in `halfseen.audit`.
    where, since, until, drop_arms
        As in `halfseen.audit`.
    learns
        ``"on-arrival"`` if the learner uses a reward as soon as it comes, ``"when-settled"`` if
        only when the wait is over, as one that is retrained on settled decisions.
    futures
        How many futures to simulate, each with means of its own.
    seed
        Seed of the simulation.

    Returns
    -------
    Window
        For a range of waits, what is seen by then and what a learner loses.

    Notes
    -----
    `UCB` plays as many decisions as the log has, at its rate. Before the first rewards are
    learned it plays one arm alone, then the next, in an order drawn for each future. Delays
    follow each arm's Kaplan-Meier law, means are drawn from their posterior, and the
    n-th reward of an arm and its delay are the same for every wait. A test checks first whether
    late rewards differ from early ones, or the best arm among old decisions changes with the
    wait: then short waits see other rewards than long ones and nothing can be advised.
    """
    learns = checks.one_of("learns", learns, LEARNS)
    futures = checks.whole("futures", futures, at_least=2, at_most=10_000)
    columns = Columns(action, reward, observed, time, feedback_time)
    kept = as_filter(where, since, until, drop_arms)
    source = open_log(log, table=table, encoding=encoding, decimal=decimal)
    decisions = read_decisions(source, columns, kept)
    bins = decisions.bins
    if bins is None or bins.first == bins.last:
        raise InvalidInput("time", "must hold at least two times", time, "Name another column.")
    decisions, never_seen = _seen_arms(decisions)
    dated = is_dated(decisions.log, time)
    maturity = estimate_maturity(decisions, dated=dated, now=moment(now, dated))
    if maturity is None:
        raise InvalidInput(
            "feedback_time",
            "must come after `time` in some row whose reward was seen",
            feedback_time,
            "Name another column.",
        )
    law, ends = maturity.pooled, maturity.cells.ends
    top = maturity.share
    places = [int(np.argmax(law.share >= share * top * (1.0 - 1e-12))) for share in SHARES]
    chosen = np.unique(places)
    waits = ends[chosen]
    scale = DAY if dated else 1.0
    found = Window(
        learns=learns,
        waits=waits / scale,
        share=law.share[chosen],
        regret=None,
        error=None,
        best=None,
        as_good=(),
        unit="days" if dated else f"units of {time}",
        left_out=decisions.left_out,
        never_seen=never_seen,
        objection=_too_little(decisions) or objection(decisions, maturity, waits, scale),
    )
    if found.objection:
        return found
    return _simulated(found, decisions, maturity, waits, futures, seed)


def _too_little(decisions: Decisions) -> str:
    """Return why a log has too little data on waits, empty if it has enough."""
    seen = decisions.counts.seen
    if len(seen) < 2:
        return (
            "Rewards of one arm only were seen: a learner has nothing to choose, and any wait loses"
            " as much as another."
        )
    if seen.sum() < FEW:
        said = "reward was" if seen.sum() == 1 else "rewards were"
        return f"Only {int(seen.sum())} {said} seen: too few to say how long to wait."
    return ""


def _seen_arms(decisions: Decisions) -> tuple[Decisions, tuple[str, ...]]:
    """Return a log without the arms that were never seen, and their names."""
    counts = decisions.counts
    known = counts.seen > 0
    if known.all() or not known.any():
        return decisions, ()
    never = tuple(counts.names[i] for i in np.flatnonzero(~known))
    listed_names = ", ".join(map(text, never))
    inside = f"CAST(action AS VARCHAR) NOT IN ({listed_names})"
    sql = f"(SELECT * FROM {decisions.sql} WHERE {inside})"
    return replace(decisions, sql=sql, counts=counts.part(known), binned=None), never


def _by_size(arms: Counts, share: list[float]) -> NDArray[np.int64]:
    """Return an order of arms that does not depend on their names: draws go by an arm's place."""
    return np.lexsort((np.array(share), arms.mean, arms.seen, arms.rows))


def _as_good(mean: Vector, error: Vector, best: int) -> tuple[int, ...]:
    """Return the places around the best that are no worse within noise and 2%, without a gap."""
    near = mean - mean[best] <= 2.0 * error + 0.02 * mean[best]
    first, last = best, best
    while first > 0 and near[first - 1]:
        first -= 1
    while last + 1 < len(near) and near[last + 1]:
        last += 1
    return tuple(range(first, last + 1))


def _simulated(
    found: Window,
    decisions: Decisions,
    maturity: Maturity,
    waits: Vector,
    futures: int,
    seed: int,
) -> Window:
    """Return the regret of every wait, and which is best."""
    bins = decisions.bins
    assert bins is not None
    laws = [delay_quantiles(maturity, arm) for arm in range(len(decisions.counts))]
    order = _by_size(decisions.counts, [share for share, _ in laws])
    arms, laws = decisions.counts.part(order), [laws[i] for i in order]
    rows = int(arms.rows.sum())
    thinned = max(1, math.ceil(rows / ROUNDS))
    rounds = max(2, rows // thinned)
    regret = simulate_waits(
        draw_means(arms, futures, np.random.default_rng(seed)),
        arms,
        np.array([share for share, _ in laws]),
        np.array([inverse for _, inverse in laws]),
        waits,
        step=(bins.last - bins.first) / rounds,
        rounds=rounds,
        settled=found.learns == "when-settled",
        seed=seed,
    )
    mean = regret.mean(axis=0)
    best = int(np.argmin(mean))
    apart = regret - regret[:, [best]]
    error = apart.std(axis=0, ddof=1) / math.sqrt(futures)
    return replace(
        found,
        regret=mean * thinned,
        error=error * thinned,
        best=best,
        as_good=_as_good(mean, error, best),
        thinned=thinned,
    )
