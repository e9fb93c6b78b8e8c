"""A study with the arms, means, rates and noise of a log."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from halfseen.censorship import PerArm
from halfseen.errors import InvalidInput, one_line
from halfseen.policies import UCB
from halfseen.problems import ArmedBandit
from halfseen.studies.study import Study
from halfseen.tables import brief, listed

if TYPE_CHECKING:
    from halfseen.logs.audit import Audit

HORIZON = 20_000
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
        UCB with the log's rates, next to everything seen. Arms never seen are left out.

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
    return Study(
        {brief(Path(found.log).name, 60): ArmedBandit(means, noise, law)},
        {"the log's rates": PerArm(tuple(found.observe[keep].tolist()))},
        {"UCB": UCB()},
        horizon=max(2, min(found.rows, HORIZON)) if horizon is None else horizon,
        **options,
    )


def study_toml(found: Audit) -> str:
    """Return a study of a log as TOML, with the names of its arms as comments."""
    from halfseen.studies.spec import to_toml

    names = [one_line(name) for name in found.arms]
    known = [name for name, mean in zip(names, found.counts.mean, strict=True) if mean == mean]
    lines = [f"# Means, noise and rates of {found.rows:,} decisions in {one_line(found.log)}."]
    lines += ["# Arms, in this order:", *(f"#   {brief(name, 80)}" for name in known[:LISTED])]
    lines += [f"#   and {len(known) - LISTED:,} more"] if len(known) > LISTED else []
    unknown = [name for name, mean in zip(names, found.counts.mean, strict=True) if mean != mean]
    lines += [f"# Left out, since no reward was seen: {listed(unknown)}."] if unknown else []
    return "\n".join([*lines, "", to_toml(study_of(found))])
