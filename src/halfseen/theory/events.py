"""The two failure events of the regret bounds: their probabilities and their frequencies."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from halfseen import checks
from halfseen.checks import Vector
from halfseen.errors import InvalidInput
from halfseen.theory import inputs

if TYPE_CHECKING:
    import xarray

EVENTS = {"optimism": "optimism_failed", "censoring": "censoring_failed"}


def optimism_failure_probability(arms: int, horizon: float) -> float:
    r"""Return a bound on the probability that some mean ever leaves its confidence interval.

    .. math:: P(\exists a,t:\ |\hat\theta_a-\theta_a| > \text{width})\ \le\ \frac{2d}{T^2}

    Parameters
    ----------
    arms
        Number d of arms that can be played.
    horizon
        Number of rounds T.

    Returns
    -------
    float
        The bound, at most 1.

    Notes
    -----
    As in the paper. The width is that of :class:`halfseen.UCB`.

    References
    ----------
    Guinet, Amin, Jaillet (2022), lemma B.1.

    Examples
    --------
    >>> optimism_failure_probability(arms=5, horizon=1000)
    1e-05
    """
    number = checks.whole("arms", arms, at_least=1)
    time = checks.whole("horizon", horizon, at_least=1)
    return min(1.0, 2.0 * number / time**2)


def censoring_failure_probability(
    observe: Sequence[float] | Vector,
    horizon: float,
    *,
    delta: float = 0.5,
) -> float:
    r"""Return a bound on the probability that far fewer rewards are observed than expected.

    .. math:: P\Big(\exists a,t:\ \tau_a\ge\frac{24\log T}{p_a}+1,\ N_a<(1-\delta)p_a\tau_a\Big)
              \ \le\ \frac{2\,d_{\rm eff}}{\delta^2}\,T^{-12\delta^2}

    Parameters
    ----------
    observe
        Probability that each arm's reward is observed.
    horizon
        Number of rounds T.
    delta
        The share of observations that may be missing, in ]0, 1].

    Returns
    -------
    float
        The bound, at most 1.

    Notes
    -----
    The paper's constant is 4; the integral comparison of its own proof gives 2.

    References
    ----------
    Guinet, Amin, Jaillet (2022), lemma B.2.

    Examples
    --------
    >>> round(censoring_failure_probability([0.5, 0.5], horizon=100) * 1e6, 9)
    32.0
    """
    p = inputs.observation(observe)
    time = checks.whole("horizon", horizon, at_least=1)
    share = checks.number("delta", delta, above=0.0, at_most=1.0, fix="Use 0.5.")
    exponent = -12.0 * share**2 * math.log(time)
    return min(1.0, 2.0 * float((1.0 / p).sum()) / share**2 * math.exp(exponent))


def event_frequencies(result: Any) -> xarray.Dataset:
    """Return how often each event occurred in a simulation, with 95% confidence intervals.

    Parameters
    ----------
    result
        The result of a simulation: ``result.data`` holds ``optimism_failed`` and
        ``censoring_failed``, 1 if the event had occurred by that checkpoint, 0 if not, and -1 if
        the policy does not define it, along an axis ``replication``.

    Returns
    -------
    xarray.Dataset
        ``frequency``, ``lower`` and ``upper`` (Clopper-Pearson, 95%) and ``replications``, with an
        axis ``event`` ("optimism", "censoring") in place of ``replication``. NaN where undefined.

    Notes
    -----
    The intervals are exact: each covers the true probability with at least 95% probability.
    Intervals at different checkpoints are not independent, as they use the same replications.

    References
    ----------
    Clopper, Pearson (1934), Biometrika 26.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import xarray
    >>> happened = xarray.DataArray([1, 0, 0, 0], dims="replication")
    >>> data = xarray.Dataset({"optimism_failed": happened, "censoring_failed": happened * 0})
    >>> seen = event_frequencies(SimpleNamespace(data=data))
    >>> seen.frequency.values.tolist(), seen.upper.values.round(4).tolist()
    ([0.25, 0.0], [0.8059, 0.6024])
    """
    import xarray

    data: Any = getattr(result, "data", None)
    for name in EVENTS.values():
        if not isinstance(data, xarray.Dataset) or name not in data:
            raise InvalidInput(
                "result", f"must hold `{name}`", result, "Give what simulate() returned."
            )
    columns = [data[name].expand_dims("event") for name in EVENTS.values()]
    marks = xarray.concat(columns, dim="event", coords="minimal", compat="override", join="exact")
    marks = marks.assign_coords(event=list(EVENTS))
    happened = (marks == 1).sum("replication")
    defined = (marks >= 0).sum("replication")
    lower, upper = clopper_pearson(happened.values, defined.values)
    with np.errstate(invalid="ignore", divide="ignore"):
        frequency = happened.values / defined.values
    arrays = {"frequency": frequency, "lower": lower, "upper": upper}
    fields = {name: happened.copy(data=values) for name, values in arrays.items()}
    return xarray.Dataset({**fields, "replications": defined})


def clopper_pearson(successes: Any, trials: Any, level: float = 0.95) -> tuple[Vector, Vector]:
    r"""Return Clopper and Pearson's exact confidence interval of a probability.

    .. math:: \left[B^{-1}_{\alpha/2}(k, n-k+1),\; B^{-1}_{1-\alpha/2}(k+1, n-k)\right]

    Parameters
    ----------
    successes, trials
        The counts k and n, one of each or arrays.
    level
        Coverage: how often, at least, the interval contains the probability.

    Returns
    -------
    lower, upper
        The limits of the interval; NaN where there are no trials.

    References
    ----------
    Clopper, Pearson (1934), The use of confidence or fiducial limits, Biometrika 26.

    Examples
    --------
    >>> lower, upper = clopper_pearson(0, 100)
    >>> float(lower), round(float(upper), 5)
    (0.0, 0.03622)
    """
    hits, total = np.asarray(successes, dtype=np.float64), np.asarray(trials, dtype=np.float64)
    tail = 0.5 * (1.0 - level)
    misses = total - hits
    low = special.betaincinv(np.where(hits > 0, hits, 1.0), misses + 1.0, tail)
    high = special.betaincinv(hits + 1.0, np.where(misses > 0, misses, 1.0), 1.0 - tail)
    low, high = np.where(hits > 0, low, 0.0), np.where(misses > 0, high, 1.0)
    return np.where(total > 0, low, np.nan), np.where(total > 0, high, np.nan)
