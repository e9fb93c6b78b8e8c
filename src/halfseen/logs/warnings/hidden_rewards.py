"""Whether rewards in rows marked as not observed differ from those observed."""

from __future__ import annotations

import math

import numpy as np

from halfseen.logs.counts import Decisions
from halfseen.logs.group_sums import sum_by
from halfseen.logs.mature_rows import cut_sql
from halfseen.logs.warnings.arm_by_arm import DETECTABLE, FOLLOWED, smallest, two_sided
from halfseen.logs.warnings.log_warning import Check, LogWarning, judged, unknown
from halfseen.tables import Z95, brief

PERIODS, LEAST = 8, 5  # periods of time, and rewards that each side of a comparison needs
PER_ARM = 50  # hidden rewards of an arm that a test of its own needs
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
        f"SELECT CAST(action AS VARCHAR) AS arm, count(hidden) AS hn, avg({hidden}) AS hm,"
        f" var_samp({hidden}) AS hv, count(reward) AS sn, avg({reward}) AS sm,"
        f" var_samp({reward}) AS sv FROM"
        f" (SELECT *, {period} AS period FROM {decisions.sql}) WHERE action IS NOT NULL"
        f" GROUP BY action, period HAVING count(hidden) >= {LEAST} AND count(reward) >= {LEAST}"
    )
    names, arm = np.unique(np.asarray(found["arm"]).astype(str), return_inverse=True)
    hn, hm, hv, sn, sm, sv = (
        np.asarray(found[x], dtype=float) for x in ("hn", "hm", "hv", "sn", "sm", "sv")
    )
    weight = hn * sn / (hn + sn)
    parts = [weight * (hm - sm), weight**2 * (hv / hn + sv / sn) * inflation, weight]
    parts.append(weight * (hv + sv))
    whole = [float(part.sum()) for part in parts]
    if not whole[1] > 0.0:
        return unknown("hidden-differ", LOOKED_FOR, "too few of either kind at one time and arm")
    own = np.stack([sum_by(arm, part, len(names)) for part in parts], axis=1)
    size = sum_by(arm, hn, len(names))
    followed = np.argsort(-size, kind="stable")[:FOLLOWED]
    followed = followed[(size[followed] >= PER_ARM) & (own[followed, 1] > 0.0)]
    together = two_sided(whole[0] / math.sqrt(whole[1]))
    p, which = smallest(together, [two_sided(own[i, 0] / math.sqrt(own[i, 1])) for i in followed])
    total, variance, weights, squares = whole if which is None else own[followed[which]].tolist()
    difference, error = total / weights, math.sqrt(variance) / weights
    spread = math.sqrt(squares / weights / 2.0)
    of = "the same arm and time"
    if which is not None:
        of = f"arm “{brief(str(names[followed[which]]), 40)}” at the same time"
    warning = LogWarning(
        "hidden-differ",
        f"Rewards in rows marked as not observed are {'higher' if difference > 0 else 'lower'} than"
        f" observed ones of {of}, by {abs(difference):.3g} ± {Z95 * error:.2g}.",
        "What goes missing depends on the reward, and no mean, regret or bound computed from what"
        " was observed holds.",
        "Use the hidden rewards too, or collect a random sample of the missing ones.",
        {"difference": difference, "standard_error": error, "p": p},
    )
    far = DETECTABLE * math.sqrt(whole[1]) / whole[2]
    same = ", the same in all arms," if len(counts) > 1 else ""
    said = f"a difference of {far:.2g}{same} would have been found"
    matters = abs(difference) >= MATTERS * spread
    return judged("hidden-differ", LOOKED_FOR, p, warning, matters=matters, not_found=said)
