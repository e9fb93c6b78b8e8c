"""Whether, within an arm, contexts are seen at different rates."""

from __future__ import annotations

import math

import numpy as np

from halfseen.checks import Vector
from halfseen.logs.counts import Decisions
from halfseen.logs.mature_rows import delay_looks_the_same, mature_sql, within
from halfseen.logs.maturity import Maturity
from halfseen.logs.option_names import option
from halfseen.logs.warnings.log_warning import Check, LogWarning, judged, unknown
from halfseen.tables import brief

MATTERS = 0.02  # standard deviation of rates from which a difference matters
LOOKED_FOR = "contexts that are seen at different rates"


def pearson_law(n: Vector, k: Vector, groups: Vector, inverse: Vector) -> tuple[Vector, Vector]:
    r"""Return mean and variance of Pearson's statistic given the margins, arm by arm.

    .. math:: \frac{N(g-1)}{N-1}, \qquad
              \frac{2N}{N-3}(v_1-w_1)(v_2-w_2) + \frac{N^2}{N-1} w_1 w_2

    with :math:`v_1 = \frac{(g-1)(N-g)}{N-1}`, :math:`w_1 = \frac{N\sum 1/n_c - g^2}{N-2}`, and
    the same for the two columns, seen and not seen. Exact, however small the contexts are.

    Parameters
    ----------
    n, k
        Decisions and rewards seen, per arm.
    groups, inverse
        The number of contexts of each arm, and the sum of 1/n over them.

    References
    ----------
    Nass (1959), The chi-square test for small expectations in contingency tables.

    Examples
    --------
    >>> mean, variance = pearson_law(*(np.array([x]) for x in (4.0, 2.0, 2.0, 1.0)))
    >>> mean.round(4).tolist(), variance.round(4).tolist()  # two by two: 4, 0 or 4 with 1, 4, 1
    ([1.3333], [3.5556])
    """
    v1, w1 = (groups - 1.0) * (n - groups) / (n - 1.0), (n * inverse - groups**2) / (n - 2.0)
    v2, w2 = (n - 2.0) / (n - 1.0), (n * (1.0 / k + 1.0 / (n - k)) - 4.0) / (n - 2.0)
    variance = 2.0 * n / (n - 3.0) * (v1 - w1) * (v2 - w2) + n**2 / (n - 1.0) * w1 * w2
    return n * (groups - 1.0) / (n - 1.0), variance


def look_at_contexts(decisions: Decisions, maturity: Maturity | None, inflation: float) -> Check:
    """Look for contexts that are seen at different rates within an arm."""
    from scipy.special import chdtrc

    if decisions.columns.context is None:
        return unknown(
            "depends-on-context", LOOKED_FOR, f"name the column with {option('context')}"
        )
    found = decisions.log.query(
        "SELECT sum(n) AS n, sum(k) AS k, sum(k * k / n) AS squares, count(*) AS groups,"
        " sum(1 / n) AS inverse FROM (SELECT action, context, CAST(count(*) AS DOUBLE) AS n,"
        f" CAST(count(*) FILTER (seen) AS DOUBLE) AS k FROM {mature_sql(decisions, maturity)}"
        " WHERE context IS NOT NULL AND action IS NOT NULL GROUP BY action, context)"
        " GROUP BY action HAVING count(*) > 1"
    )
    n, k, squares, groups, inverse = (np.asarray(found[x], dtype=float) for x in found)
    usable = (k > 0) & (k < n) & (n > 3)
    n, k, squares, groups, inverse = (x[usable] for x in (n, k, squares, groups, inverse))
    mean, variance = pearson_law(n, k, groups, inverse)
    if not mean.sum() > 0.0 or not variance.sum() > 0.0:
        return unknown("depends-on-context", LOOKED_FOR, "no arm has rows in two contexts")
    chi = (squares - k**2 / n) / (k / n * (1.0 - k / n)) / inflation
    scale = 2.0 * mean.sum() / variance.sum()
    p = float(chdtrc(mean.sum() * scale, chi.sum() * scale))
    excess = ((chi - mean) * (k / n) * (1.0 - k / n)).sum() / n.sum()
    spread = math.sqrt(max(float(excess), 0.0))
    name = brief(decisions.columns.context, 40)
    warning = LogWarning(
        "depends-on-context",
        f"Within an arm, how often rewards are seen{within(maturity)} differs between values"
        f" of {name}: by a standard deviation of {100 * spread:.2g} points.",
        "A rate here is an average over contexts; a policy that treats them differently faces other"
        " rates, and the mean of an arm is biased towards the contexts that answer."
        + delay_looks_the_same(maturity, "Contexts"),
        f"Audit each value of {name} separately.",
        {"chi_square": float(chi.sum()), "degrees": float(mean.sum()), "spread": spread, "p": p},
    )
    said = f"the rates differ between values of {name} no more than by chance"
    return judged(
        "depends-on-context", LOOKED_FOR, p, warning, matters=spread >= MATTERS, not_found=said
    )
