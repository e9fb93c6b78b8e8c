"""A study with the arms, means, rates and noise of a log."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from halfseen.censorship import Censorship, Delayed, PerArm
from halfseen.errors import InvalidInput, one_line
from halfseen.policies import UCB
from halfseen.problems import ArmedBandit
from halfseen.problems.delay_laws import EmpiricalDelay
from halfseen.studies.study import Study
from halfseen.tables import brief, listed

if TYPE_CHECKING:
    from halfseen.logs.audit import Audit

HORIZON = 20_000
POINTS = 1_000  # delays written into a study, over all arms
OWN_DELAYS = 50  # most arms whose delays are estimated apart
LISTED = 200  # arms named in the comments of the file


def study_of(found: Audit, *, horizon: int | None = None, **options: Any) -> Study:
    """Return a study with a log's arms, means, rates and noise.

    Parameters
    ----------
    found
        The audit of the log.
    horizon
        Rounds to play; left out, as many as the log has decisions, at most 20,000.
    options
        Those of `halfseen.Study`, such as ``replications``.

    Returns
    -------
    Study
        UCB with the log's rates, or its delays where it has times of feedback, next to everything
        seen. Arms never seen are left out.

    Examples
    --------
    >>> from halfseen import audit
    >>> log = {"offer": ["a", "a", "b", "b"], "sold": [1, None, 0, 1]}
    >>> study_of(audit(log, action="offer", reward="sold")).censorships["the log's rates"]
    PerArm(observe=(0.5, 1.0))
    """
    keep = ~np.isnan(found.counts.mean)
    if not keep.any():
        raise InvalidInput(
            "log", "must hold rewards to simulate", found.log, "Name the column of rewards."
        )
    noise = None if found.counts.binary else tuple(np.array(found.noise())[keep].tolist())
    law = "bernoulli" if found.counts.binary else "gaussian"
    means = tuple(found.counts.mean[keep].tolist())
    late = delays_of(found)
    rates: dict[str, Censorship] = (
        {"the log's rates": PerArm(tuple(found.observe[keep].tolist()))}
        if late is None
        else {"the log's delays": late}
    )
    return Study(
        {brief(Path(found.log).name, 60): ArmedBandit(means, noise, reward=law)},
        rates,
        {"UCB": UCB()},
        horizon=max(2, min(found.rows, HORIZON)) if horizon is None else horizon,
        **options,
    )


def delays_of(found: Audit) -> Delayed | None:
    """Return the delays of a log in rounds, None where it has none.

    A round is the mean time between two decisions of the log. Delays of each arm are quantiles of
    Kaplan-Meier's estimate within the audit's window, so that decisions still pending count for as
    long as they were followed; `arrive` is the arm's rate within the window. With many arms the
    delays are those of all arms together.

    Examples
    --------
    >>> from halfseen import audit
    >>> log = {"offer": ["a", "b"] * 4, "sold": [1] * 6 + [None] * 2, "at": range(8)}
    >>> log["back"] = [2, 3, 5, 5, 7, 7, None, None]
    >>> options = {"action": "offer", "reward": "sold", "time": "at", "feedback_time": "back"}
    >>> late = delays_of(audit(log, **options))
    >>> late.window, [law.longest for law in late.laws]
    (3, [3.0, 2.0])
    """
    known, keep = found.maturity, ~np.isnan(found.counts.mean)
    if known is None or known.at_once or not known.pace > 0.0:
        return None
    arms = np.flatnonzero(keep)
    pooled = None if len(arms) <= OWN_DELAYS else known.pooled
    ends = known.cells.ends - (0.0 if known.cells.exact else 0.5 * known.cells.tick)
    inside = known.cells.ends <= known.window * (1.0 + 1e-9)
    points = max(10, POINTS // (len(arms) if pooled is None else 1))
    levels = (np.arange(points) + 0.5) / points
    laws = []
    for arm in arms:
        share = (known.cells.law(int(arm)) if pooled is None else pooled).share[inside]
        if not share[-1] > 0.0:  # all of its rewards came later
            share = known.pooled.share[inside]
        places = np.searchsorted(share, levels * share[-1])
        rounds = np.floor(ends[inside][places] * known.pace + 1e-9).astype(int)
        laws.append(EmpiricalDelay(rounds.tolist(), arrive=float(found.observe[arm])))
    return Delayed(laws, window=math.ceil(known.window * known.pace - 1e-9))


def study_toml(found: Audit) -> str:
    """Return a study of a log as TOML, with the names of its arms as comments."""
    from halfseen.studies.toml_text import to_toml

    names = [one_line(name) for name in found.arms]
    known = [name for name, mean in zip(names, found.counts.mean, strict=True) if mean == mean]
    late = delays_of(found) is not None
    what = "delays, in rounds of the mean time between decisions," if late else "rates"
    lines = [f"# Means, noise and {what} of {found.rows:,} decisions in {one_line(found.log)}."]
    lines += ["# Arms, in this order:", *(f"#   {brief(name, 80)}" for name in known[:LISTED])]
    lines += [f"#   and {len(known) - LISTED:,} more"] if len(known) > LISTED else []
    unknown = [name for name, mean in zip(names, found.counts.mean, strict=True) if mean != mean]
    lines += [f"# Left out, since no reward was seen: {listed(unknown)}."] if unknown else []
    return "\n".join([*lines, "", to_toml(study_of(found))])
