"""Means of arms under two assumptions on a column of contexts, by arm and context."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from halfseen.checks import Vector
from halfseen.logs.counts import Decisions
from halfseen.logs.proxy_means import ProxyMean, proxy_mean
from halfseen.logs.queries import filled
from halfseen.logs.stratified_means import StratifiedMean, stratified_mean
from halfseen.tables import Z95, Table, listed, table

MOST_CONTEXTS = 1000  # per arm; beyond, groups are too small to say anything
MOST_ARMS = 100
FEW = 5  # rewards of a context below which its variance is that of all contexts of the arm
FOLLOWED = 200  # decisions per context from which a proxy's odds are nearly unbiased
REFUSED = 0.01  # p-value below which a context is no proxy
NO_PROXY = ProxyMean(np.nan, np.nan, np.nan, (np.nan, np.nan), False, False, np.inf, None)
VAGUE = 0.5  # standard error, as a share of the range of rewards, of a proxy that says too little


@dataclass(frozen=True)
class ContextMeans:
    """Means of arms if the context explains missing rewards.

    Attributes
    ----------
    strata
        If, given arm and context, being seen does not depend on the reward.
    proxies
        If being seen depends on the reward and, given it, not on the context; empty unless
        rewards are 0 or 1.
    """

    strata: tuple[StratifiedMean, ...]
    proxies: tuple[ProxyMean, ...]

    @property
    def table(self) -> Table:
        """One row per arm: the mean of the seen, and the mean under each assumption."""
        records = []
        for i, one in enumerate(self.strata):
            row: dict[str, Any] = {
                "arm": one.arm,
                "mean of the seen": one.seen_mean,
                "if the context explains it": one.mean,
                "standard error": one.standard_error,
            }
            if self.proxies:
                usable = self._usable(i)
                row |= {
                    "if it is a proxy": self.proxies[i].mean if usable else None,
                    "its standard error": self.proxies[i].standard_error if usable else None,
                }
            records.append(row)
        return table(records)

    def _usable(self, i: int) -> bool:
        one = self.proxies[i]
        fits = one.p_value is None or one.p_value >= REFUSED
        return one.identified and one.possible and fits and one.standard_error < VAGUE

    @property
    def findings(self) -> tuple[str, ...]:
        """What changes under either assumption, in sentences; empty if nothing does."""
        said = []
        apart = [x for x in self.strata if abs(x.mean - x.seen_mean) > 2.0 * x.standard_error]
        if apart:
            most = max(apart, key=lambda one: abs(one.mean - one.seen_mean))
            said.append(
                f"If the context explains which rewards are missing, the mean of {most.arm} is"
                f" {_interval(most)} and not {most.seen_mean:.3g}, the"
                f" mean of those seen{_more(len(apart) - 1)}."
            )
        usable = [
            (one, other)
            for i, (one, other) in enumerate(zip(self.strata, self.proxies, strict=False))
            if self._usable(i) and abs(other.mean - one.seen_mean) > 2.0 * other.standard_error
        ]
        if usable:
            one, other = max(usable, key=lambda pair: abs(pair[1].mean - pair[0].seen_mean))
            said.append(
                "If being seen depends on the reward itself and the context is a proxy of the"
                f" reward, the mean of {one.arm} is {_interval(other)}{_more(len(usable) - 1)}."
                " The log cannot distinguish the two."
            )
        refused = [
            one.arm
            for one, other in zip(self.strata, self.proxies, strict=False)
            if other.p_value is not None and other.p_value < REFUSED
        ]
        if refused:
            said.append(
                f"For {listed(refused)} the context is no such proxy: no odds of being missing by"
                " reward alone fit all contexts."
            )
        return tuple(said)

    def to_dict(self) -> list[dict[str, Any]]:
        """Return plain values, one entry per arm."""
        return [
            one.to_dict() | {"proxy": self.proxies[i].to_dict() if self.proxies else None}
            for i, one in enumerate(self.strata)
        ]


def _more(count: int) -> str:
    return f" ({count} more arm{'s' * (count > 1)} differ{'s' * (count == 1)})" if count else ""


def _interval(one: StratifiedMean | ProxyMean) -> str:
    reach = Z95 * one.standard_error
    return f"{one.mean:.3g} (95% interval {one.mean - reach:.3g} to {one.mean + reach:.3g})"


def _within(seen: Vector, total: Vector, squares: Vector) -> Vector:
    """Return the variance of rewards within each context; the pooled one where few were seen.

    Parameters
    ----------
    seen, total, squares
        Rewards seen, their sum and the sum of their squared deviations, per context.
    """
    freedom = np.maximum(seen - 1.0, 0.0)
    if freedom.sum() >= FEW:
        pooled = squares.sum() / freedom.sum()
    else:  # the spread of all rewards: contexts differ, so it is too large rather than too small
        mean = total.sum() / seen.sum()
        middle = total / np.maximum(seen, 1.0)
        pooled = (squares + seen * (middle - mean) ** 2).sum() / max(seen.sum() - 1.0, 1.0)
    own = squares / np.maximum(freedom, 1.0)
    return np.where(seen < FEW, np.maximum(own, pooled), own)


def read_context_means(decisions: Decisions) -> ContextMeans | None:
    """Return the means of a log's arms by its column of contexts.

    Returns
    -------
    ContextMeans or None
        None without contexts, rewards or missing ones, or where there are too many contexts. Of
        more than 100 arms, those with most decisions.
    """
    counts = decisions.counts
    whole = bool((counts.seen == counts.rows).all())
    if not decisions.columns.context or not decisions.columns.reward or whole:
        return None
    found = decisions.log.query(
        "SELECT dense_rank() OVER (ORDER BY action) - 1 AS arm, rows, seen, total, spread FROM"
        " (SELECT action, context, count(*) AS rows, count(reward) AS seen,"
        " coalesce(sum(reward), 0.0) AS total, coalesce(var_pop(reward), 0.0) AS spread FROM"
        f" {decisions.sql} WHERE action IS NOT NULL GROUP BY action, context)"
        " ORDER BY arm, rows, seen, total"
    )
    arm = np.asarray(found["arm"]).astype(int)
    columns = [filled(found[name]) for name in ("rows", "seen", "total", "spread")]
    if len(arm) > MOST_CONTEXTS * len(counts):
        return None
    shown = np.sort(np.argsort(-counts.rows, kind="stable")[:MOST_ARMS])
    strata, proxies = [], []
    for i in shown[counts.seen[shown] > 0].tolist():
        rows, seen, total, spread = (column[arm == i] for column in columns)
        within = _within(seen, total, spread * seen)
        mean, variance, lost = stratified_mean(rows, seen, total, within)
        error = float(np.sqrt(variance / rows[seen > 0.0].sum()))
        plain = float(total.sum() / seen.sum())
        strata.append(StratifiedMean(counts.names[i], mean, error, plain, variance, lost))
        if counts.binary:
            few = len(rows) > 2 and rows.sum() < FOLLOWED * len(rows)
            proxies.append(
                NO_PROXY
                if few
                else proxy_mean(np.stack([seen - total, total], axis=1), rows - seen)
            )
    return ContextMeans(tuple(strata), tuple(proxies)) if strata else None
