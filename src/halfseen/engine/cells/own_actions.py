"""The actions and probabilities of a whole replication, computed before it is played.

Compiled loops cannot call a sampler of actions or a censorship written as a Python function, so
both are evaluated for all rounds of a replication in advance.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from halfseen.censorship import Censorship
from halfseen.checks import Vector
from halfseen.draws import Stream
from halfseen.errors import InvalidInput
from halfseen.problems.action_arrays import row_blocks
from halfseen.problems.base import LinearActions

MOST_NUMBERS = 1 << 28  # coordinates of one replication: 2 GiB
_one_at_a_time = threading.Lock()  # a user's function need not be safe to call from two threads

Fit = Callable[..., Callable[..., Any]]


def check_size(actions: LinearActions, horizon: int) -> None:
    """Raise if the actions of a replication do not fit in memory."""
    size = horizon * actions.count * actions.dimension
    if size > MOST_NUMBERS:
        raise InvalidInput(
            "horizon",
            f"times count times dimension must be at most {MOST_NUMBERS:,}, as one replication's"
            " actions are held in memory for Python functions",
            f"{horizon:,} x {actions.count:,} x {actions.dimension:,}",
            "Lower one of them, or use RandomActions with another censorship.",
        )


def own_rounds(actions: LinearActions, horizon: int, stream: Stream, draw: Fit) -> Vector:
    """Return the actions (T, K, d) offered in one replication.

    The sampler's generator is a Philox of the stream, so that it depends only on the seed, the
    problem and the replication; `draw` is `draw_rounds`, plain or compiled.
    """
    if actions.kernels is None:
        key0, key1, replication, purpose = stream
        key = np.array([key0 | key1 << 32, replication | purpose << 32], dtype=np.uint64)
        with _one_at_a_time:
            rows = actions.sample_rounds(np.random.Generator(np.random.Philox(key=key)), horizon)
    else:
        rows = np.empty((horizon, actions.count, actions.dimension))
        draw(stream, rows)
    rows.flags.writeable = False  # of the same type as a given sequence: one loop for both
    return rows


def listed_rates(censorship: Censorship, offered: Vector) -> Vector:
    """Return the probability of being observed of every action of a sequence (T, K, d)."""
    with _one_at_a_time:
        rates = [
            censorship.checked(block.reshape(-1, offered.shape[2])) for block in row_blocks(offered)
        ]
    return np.concatenate(rates).reshape(offered.shape[:2])
