"""Feedback that becomes rarer along a direction: fits of the direction, the curve and the steps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from halfseen import checks
from halfseen.censorship.directions import action_rows
from halfseen.checks import Vector
from halfseen.errors import InvalidInput
from halfseen.logs.columns import Columns
from halfseen.logs.counts import Decisions
from halfseen.logs.direction_fit import DirectionFit, Intervals
from halfseen.logs.isotonic import isotonic, log_likelihood, merge_blocks
from halfseen.logs.queries import filled
from halfseen.tables import listed

SAMPLED = 20_000  # rows of a long log that are sampled
SEARCHED = 20_000  # distinct rows the search for the direction looks at
EVALUATED = 3e5  # rows times likelihood evaluations per feature, for a resample
DETERMINED = 1e6  # condition number from which features count as linearly dependent
COLLINEAR = 30.0  # condition number of near dependence (Belsley, Kuh, Welsch 1980)


def fit_direction(
    features: Any,
    observed: Any,
    *,
    regions: int | None = None,
    most_regions: int = 8,
    resamples: int = 0,
    seed: int = 0,
    names: Sequence[str] | None = None,
) -> DirectionFit:
    r"""Fit a probability of being seen that falls along one direction of the features.

    .. math:: p(x) = p_j \quad\text{when}\quad \tau_j \le \langle x, u\rangle < \tau_{j+1},
              \qquad p_0 \ge p_1 \ge \dots

    Parameters
    ----------
    features
        An array (n, d), one row per decision.
    observed
        For each row, whether its reward was seen.
    regions
        Number of regions; left out, chosen by BIC.
    most_regions
        Largest number of regions to try.
    resamples
        How many times to refit resampled rows for intervals; 0 for none.
    seed
        Seed of the resampling, and of the rows searched if there are very many.
    names
        Names of the features, for messages.

    Returns
    -------
    DirectionFit
        Direction, steps, curve, and how well they fit.

    Notes
    -----
    The direction maximises the likelihood of the best falling curve (isotonic regression), searched
    from the direction of a logistic regression. The steps join blocks of that curve: the best
    staircase of k steps has its edges among the curve's (Haiminen, Gionis, Laasonen 2008), so that
    dynamic programming over the blocks is exact. BIC counts k rates, k - 1 thresholds and, if
    k > 1, d - 1 angles. The test of fit is of the staircase against the saturated model where rows
    repeat (likelihood ratio), else of the staircase with any slope in each region against squares
    and products of the features (score test).

    Nothing depends on the units of the features: the search, the standardised weights and the angle
    between directions are those of features divided by their standard deviations. Searches on
    resampled rows do not start from the fitted direction. The interval of a rate joins the
    percentiles of its refits with their mirror image about the fitted rate, since edges fitted to
    noise exaggerate steps. In simulations both hold at least 93% of the time where feedback falls
    by 15 points along one of two features in 1,000 rows.

    References
    ----------
    Balabdaoui, Durot, Jankowski (2019), Least squares estimation in the monotone single index
    model. Haiminen, Gionis, Laasonen (2008), Algorithms for unimodal segmentation.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> rows = rng.normal(size=(4000, 2))
    >>> seen = rng.random(4000) < np.where(rows[:, 0] > 0.5, 0.2, 0.9)
    >>> fit = fit_direction(rows, seen)
    >>> fit.rates.round(1).tolist(), bool(fit.direction[0] > 0.99)
    ([0.9, 0.2], True)
    """
    x = action_rows("features", features)
    y = np.asarray(observed)
    if y.shape != (len(x),) or not np.isin(y, (0, 1)).all():
        raise InvalidInput(
            "observed", f"must be {len(x)} of true and false, one per row", observed, "Check it."
        )
    if regions is not None:
        regions = checks.whole("regions", regions, at_least=1)
    most = checks.whole("most_regions", most_regions, at_least=1)
    resamples = checks.whole("resamples", resamples, at_least=0)
    labels = tuple(f"feature {i + 1}" for i in range(x.shape[1])) if names is None else tuple(names)
    condition, collinear = check_rank(x, labels)
    rng = np.random.default_rng(seed)
    distinct, place = np.unique(x, axis=0, return_inverse=True)
    place = place.reshape(-1)
    n = np.bincount(place).astype(float)
    k = np.bincount(place, weights=y.astype(float)).astype(float)
    found = _fit(distinct, k, n, regions, most, _search(distinct, k, n, rng))
    spread = x.std(axis=0)
    found = replace(
        found,
        names=labels,
        standardized=_standardized(found.direction, spread),
        condition=condition,
        collinear=collinear,
    )
    if resamples == 0:
        return found
    return _with_intervals(found, distinct, k, n, resamples, rng)


def check_rank(x: Vector, names: tuple[str, ...]) -> tuple[float, tuple[str, ...]]:
    """Return the condition number of standardised features, and those that nearly coincide.

    Raises
    ------
    InvalidInput
        If a feature does not vary or is determined by the others: then no direction is.
    """
    centred = x - x.mean(axis=0)
    spread = centred.std(axis=0)
    size = np.abs(x).max(axis=0)
    flat = np.flatnonzero(spread <= 1e-12 * size)
    if len(flat):
        raise InvalidInput(
            "features", "must vary", names[flat[0]], "Leave it out: it is the same in every row."
        )
    values, vectors = np.linalg.eigh((centred / spread).T @ (centred / spread) / len(x))
    condition = math.sqrt(float(values[-1]) / max(float(values[0]), 1e-300))
    shares = np.abs(vectors[:, 0])
    involved = tuple(names[i] for i in np.flatnonzero(shares > 0.3 * shares.max()))
    if condition > DETERMINED:
        raise InvalidInput(
            "features",
            "must not determine each other",
            listed(involved),
            "Leave one of them out: along which of them feedback falls is not identified.",
        )
    return condition, involved if condition > COLLINEAR else ()


def _standardized(direction: Vector, spread: Vector) -> Vector:
    """Return the unit vector of a direction per standard deviation of the features."""
    weights = direction * spread
    return np.asarray(weights / np.sqrt(weights @ weights))


def fit_log(decisions: Decisions, resamples: int = 30) -> DirectionFit | None:
    """Fit the direction of a log's features, on a sample if it is long; None if it has none."""
    columns: Columns = decisions.columns
    if not columns.features:
        return None
    names = [f"feature_{i}" for i in range(len(columns.features))]
    known = " AND ".join(f"{name} IS NOT NULL" for name in names)
    found = decisions.log.query(
        f"SELECT * FROM (SELECT {', '.join(names)}, seen FROM {decisions.sql} WHERE {known})"
        f" USING SAMPLE reservoir({SAMPLED} ROWS) REPEATABLE (1)"
    )
    rows = np.column_stack([filled(found[name]) for name in names])
    if not len(rows):
        raise InvalidInput(
            "features", "must have a row without gaps", list(columns.features), "Name others."
        )
    fit = fit_direction(
        rows, np.asarray(found["seen"]), resamples=resamples, names=columns.features
    )
    total = int(decisions.counts.rows.sum()) + decisions.counts.unnamed
    return replace(fit, drawn_from=total) if len(rows) == SAMPLED < total else fit


def _fit(
    x: Vector, k: Vector, n: Vector, regions: int | None, most: int, direction: Vector
) -> DirectionFit:
    """Return curve and steps along a known direction."""
    curve = isotonic(x @ direction, k, n)
    merged = merge_blocks(curve, most if regions is None else regions)
    sizes = np.arange(1, len(merged) + 1)
    likelihoods = np.array([log_likelihood(curve, edges) for edges in merged])
    parameters = 2 * sizes - 1 + np.where(sizes > 1, x.shape[1] - 1, 0)
    criterion = -2.0 * likelihoods + parameters * math.log(n.sum())
    chosen = int(np.argmin(criterion)) if regions is None else len(merged) - 1
    edges = merged[chosen]
    sums_n, sums_k = (np.add.reduceat(values, edges) for values in (curve.rows, curve.seen))
    cuts = [0.5 * (curve.last[edge - 1] + curve.first[edge]) for edge in edges[1:]]
    fit = DirectionFit(
        direction=direction,
        thresholds=np.array(cuts),
        rates=sums_k / sums_n,
        rows=np.rint(sums_n).astype(np.int64),
        seen=np.rint(sums_k).astype(np.int64),
        curve=curve,
        criterion=criterion,
        misfit=1.0,
        scale=float(np.sqrt((x**2).sum(axis=1)).max()) or 1.0,
    )
    return replace(fit, misfit=_misfit(fit, x, k, n))


def _search(
    x: Vector, k: Vector, n: Vector, rng: np.random.Generator, also: Vector | None = None
) -> Vector:
    """Return the direction with the most likely falling curve.

    Parameters
    ----------
    x, k, n
        Distinct rows, and how often each was seen and occurred.
    rng
        Draws the rows to search if there are very many.
    also
        Another direction to begin from if it is more likely than that of a logistic regression;
        with it, the search of many rows is shorter.
    """
    from scipy.optimize import minimize

    if len(x) > SEARCHED:
        some = rng.choice(len(x), SEARCHED, replace=False)
        x, k, n = x[some], k[some], n[some]
    spread = x.std(axis=0)
    spread[spread == 0.0] = 1.0
    z = (x - x.mean(axis=0)) / spread

    def unit(v: Vector) -> Vector:
        w = v / spread
        length = float(np.sqrt(w @ w))
        return np.asarray(w / length) if length > 0.0 else np.eye(len(v))[0]

    def loss(v: Vector) -> float:
        curve = isotonic(z @ v, k, n)
        return -log_likelihood(curve, np.arange(len(curve.rows)))

    begin = -_logistic(z, k, n)
    length = float(np.sqrt(begin @ begin))
    begin = begin / length if length > 0.0 else np.eye(x.shape[1])[0]
    tries = [begin, -begin, *([] if also is None else [_standardized(also, spread)])]
    begin = min(tries, key=loss)
    if x.shape[1] == 1:
        return unit(begin)
    corners = np.vstack([begin, *(begin + 0.3 * axis for axis in np.eye(len(begin)))])
    effort = 150.0 if also is None else min(max(EVALUATED / len(x), 20.0), 150.0)
    ended = minimize(
        loss,
        begin,
        method="Nelder-Mead",
        options={
            "initial_simplex": corners,
            "maxfev": int(effort * len(begin)),
            "xatol": 1e-4,
            "fatol": 1e-3,
        },
    )
    return unit(ended.x if ended.fun < loss(begin) else begin)


def _logistic(z: Vector, k: Vector, n: Vector) -> Vector:
    """Return the slopes of a logistic regression with a small ridge, by Newton's method."""
    from scipy.special import expit

    design = np.column_stack([np.ones(len(z)), z])
    ridge = 1e-3 * np.eye(design.shape[1])
    ridge[0, 0] = 1e-9
    beta = np.zeros(design.shape[1])
    for _ in range(25):
        p = expit(design @ beta)
        slope = design.T @ (k - n * p) - ridge @ beta
        weight = n * p * (1.0 - p) + 1e-10
        step = np.linalg.solve((design * weight[:, None]).T @ design + ridge, slope)
        beta += step * min(1.0, 4.0 / (np.abs(step).max() + 1e-12))
        if np.abs(step).max() < 1e-8:
            break
    return beta[1:]


def _misfit(fit: DirectionFit, x: Vector, k: Vector, n: Vector) -> float:
    """Return the p-value of a test of the staircase against more general models."""
    from scipy.special import chdtrc, xlogy

    region = np.searchsorted(fit.thresholds, x @ fit.direction, side="right")
    p = fit.rates[region]
    used = 2 * len(fit.rates) - 1 + x.shape[1] - 1
    if n.sum() >= 10 * len(n):
        if len(n) <= used:
            return 1.0
        ratio = xlogy(k, k / n) - xlogy(k, p) + xlogy(n - k, 1.0 - k / n) - xlogy(n - k, 1.0 - p)
        return float(chdtrc(len(n) - used, max(2.0 * float(ratio.sum()), 0.0)))
    spread = x.std(axis=0)
    spread[spread == 0.0] = 1.0
    z, direction = (x - x.mean(axis=0)) / spread, _standardized(fit.direction, spread)
    middle = z @ direction
    across = z - middle[:, None] * direction  # one of its columns follows from the others
    across = np.delete(across, int(np.argmax(np.abs(direction))), axis=1)
    extra = np.column_stack([middle**2, across**2, across * middle[:, None]])
    weight = n * p * (1.0 - p)
    # Steps that approximate a smooth curve leave a slope within regions, which is no misfit.
    steps = np.eye(len(fit.rates))[region]
    known = np.column_stack([steps, steps * middle[:, None]])
    root = np.sqrt(weight)[:, None]
    fitted = np.linalg.lstsq(known * root, extra * root, rcond=None)[0]
    extra = extra - known @ fitted
    score = extra.T @ (k - n * p)
    spread = (extra * weight[:, None]).T @ extra
    rank = int(np.linalg.matrix_rank(spread))
    if rank == 0:
        return 1.0
    return float(chdtrc(rank, float(score @ np.linalg.pinv(spread) @ score)))


def _with_intervals(
    fit: DirectionFit, x: Vector, k: Vector, n: Vector, resamples: int, rng: np.random.Generator
) -> DirectionFit:
    cells = np.concatenate([k, n - k])
    spread = np.sqrt(np.average((x - np.average(x, axis=0, weights=n)) ** 2, axis=0, weights=n))
    angles, cuts, rates = [], [], []
    for _ in range(resamples):
        drawn = rng.multinomial(int(n.sum()), cells / cells.sum()).astype(float)
        hits, size = drawn[: len(k)], drawn[: len(k)] + drawn[len(k) :]
        kept = size > 0
        again = x[kept], hits[kept], size[kept]
        direction = _search(*again, rng, also=fit.direction)
        one = _fit(*again, len(fit.rates), len(fit.rates), direction)
        cosine = float(_standardized(direction, spread) @ fit.standardized)
        angles.append(math.degrees(math.acos(min(max(cosine, -1.0), 1.0))))
        if len(one.rates) == len(fit.rates):
            cuts.append(one.thresholds)
            rates.append(one.rates)
    found = Intervals(
        angle_degrees=float(np.quantile(angles, 0.95, method="higher")),
        thresholds=_both_ways(np.array(cuts), fit.thresholds),
        rates=np.clip(_both_ways(np.array(rates), fit.rates), 0.0, 1.0),
    )
    return replace(fit, intervals=found)


def _both_ways(refits: Vector, fitted: Vector) -> Vector:
    """Return the 95% percentiles of refits, joined with their mirror image about the fit."""
    if not len(refits):
        return np.vstack([np.full(len(fitted), -np.inf), np.full(len(fitted), np.inf)])
    low, high = np.quantile(refits, [0.025, 0.975], axis=0)
    return np.vstack([np.minimum(low, 2.0 * fitted - high), np.maximum(high, 2.0 * fitted - low)])
