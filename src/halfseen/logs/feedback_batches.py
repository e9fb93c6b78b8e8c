"""Rewards posted in batches, such as once a month: their delays do not predict pending rewards."""

from __future__ import annotations

from halfseen.logs.counts import Decisions
from halfseen.logs.option_names import option

MOMENTS = 12  # at most so many moments of feedback are batches
PRECISION = 1e-6  # of the log's length: moments closer than that are the same
SKIPPED = 0.01  # share of rewards that may come later than with the next batch
CROWD, SPREAD = 20, 10  # rewards, and moments of decision, to each moment of feedback


def batches_in_words(decisions: Decisions) -> str | None:
    """Describe batches if rewards came with the next of a few of them; None otherwise.

    A reward's delay is then the time to that batch: a decision older than the last batch whose
    reward has not come waits for nothing, though Kaplan and Meier's estimate would take it for
    late. Where rewards skip batches, some may still be pending, and delays are used.
    """
    ask, rows, bins = decisions.log.query, decisions.sql, decisions.bins
    if bins is None or not bins.last > bins.first:
        return None
    tick = f"'{PRECISION * (bins.last - bins.first)!r}'::DOUBLE"
    moment = f"round(feedback_time / {tick}) * {tick}"
    found = ask(
        f"SELECT count(DISTINCT {moment}) AS moments, count(feedback_time) AS back,"
        f" (SELECT count(DISTINCT time) FROM {rows}) AS decided FROM {rows} WHERE seen"
    )
    moments, back, decided = (int(found[name][0]) for name in ("moments", "back", "decided"))
    if not (0 < moments <= MOMENTS and back >= CROWD * moments and decided >= SPREAD * moments):
        return None
    posted = f"(SELECT DISTINCT {moment} AS moment FROM {rows} WHERE seen)"
    skipped = ask(
        f"SELECT count(*) AS n FROM {rows} WHERE seen AND feedback_time - {tick} > (SELECT"
        f" min(moment) FROM {posted} WHERE moment >= time)"
    )
    if int(skipped["n"][0]) > SKIPPED * back:
        return None
    latest = f"(SELECT max(moment) FROM {posted})"
    young = int(ask(f"SELECT count(*) AS n FROM {rows} WHERE time > {latest}")["n"][0])
    words = (
        f"Rewards were posted at {moments} moments only, each at the first after its decision. So"
        " nothing is extrapolated from delays: rates are plain shares of the decisions."
    )
    if not young:
        return words
    return (
        f"{words} {young:,} decisions were made after the last of these moments and count as not"
        f" seen: leave them out with {option('until')}."
    )
