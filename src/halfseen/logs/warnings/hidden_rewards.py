"""Whether rewards in rows marked as not observed differ from those observed."""

from __future__ import annotations

import math

import numpy as np

from halfseen.logs.counts import Decisions
from halfseen.logs.mature_rows import cut_sql
from halfseen.logs.warnings.log_warning import Check, LogWarning, judged, unknown
from halfseen.logs.warnings.tied_units import two_sided
from halfseen.tables import Z95

PERIODS, LEAST = 8, 5  # periods of time, and rewards that each side of a comparison needs
MATTERS = 0.02  # difference, in standard deviations, from which it matters
LOOKED_FOR = "hidden rewards that differ from observed ones"


def look_at_hidden(
    decisions: Decisions, cut: tuple[float, float] | None, inflation: float
) -> Check:
    """Look for rewards marked as not observed that differ from those of the same arm and time."""
    counts, bins = decisions.counts, decisions.bins
    if not counts.hidden.sum():
        return unknown("hidden-differ", LOOKED_FOR, "no row marked as not observed has a reward")
    period = "0"
    if bins is not None and bins.step > 0.0:
        period = f"coalesce(bin * {PERIODS} // {bins.places}, -1)"
    hidden, reward = (cut_sql(x, cut) for x in ("hidden", "reward"))
    found = decisions.log.query(
        f"SELECT count(hidden) AS hn, avg({hidden}) AS hm, var_samp({hidden}) AS hv,"
        f" count(reward) AS sn, avg({reward}) AS sm, var_samp({reward}) AS sv FROM"
        f" (SELECT *, {period} AS period FROM {decisions.sql}) WHERE action IS NOT NULL"
        f" GROUP BY action, period HAVING count(hidden) >= {LEAST} AND count(reward) >= {LEAST}"
    )
    hn, hm, hv, sn, sm, sv = (np.asarray(found[x], dtype=float) for x in found)
    weight = hn * sn / (hn + sn)
    variance = float((weight**2 * (hv / hn + sv / sn)).sum()) * inflation
    if not variance > 0.0:
        return unknown("hidden-differ", LOOKED_FOR, "too few of either kind at one time and arm")
    difference = float(weight @ (hm - sm) / weight.sum())
    error = math.sqrt(variance) / float(weight.sum())
    spread = math.sqrt(float((weight @ (hv + sv)) / weight.sum()) / 2.0)
    p = two_sided(difference / error)
    warning = LogWarning(
        "hidden-differ",
        f"Rewards in rows marked as not observed are {'higher' if difference > 0 else 'lower'} than"
        f" observed ones of the same arm and time, by {abs(difference):.3g} ± {Z95 * error:.2g}.",
        "What goes missing depends on the reward, and no mean, regret or bound computed from what"
        " was observed holds.",
        "Use the hidden rewards too, or collect a random sample of the missing ones.",
        {"difference": difference, "standard_error": error, "p": p},
    )
    said = f"(a difference of {3.29 * error:.2g} would have been found)"
    matters = abs(difference) >= MATTERS * spread
    return judged("hidden-differ", LOOKED_FOR, p, warning, matters=matters, not_found=said)
