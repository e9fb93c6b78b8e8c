"""A loop as its configuration: what it chooses among, with which policy, and what outcomes mean."""

from __future__ import annotations

import json
from functools import cached_property
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from halfseen import checks
from halfseen.errors import InvalidInput, did_you_mean

RULES = ("first", "last", "sum", "mean", "max")
LONGEST_WINDOW = 10 * 366 * 86_400.0  # seconds
LONGEST_NAME = 64
MOST_ARMS = 10_000


class LoopConfig(BaseModel):
    """A loop of decisions.

    Attributes
    ----------
    name
        By which clients address it: letters, digits, ``.``, ``_`` and ``-``.
    arms
        The names of the arms; left out for a loop of features.
    retired
        Arms that are never on offer any more.
    dimension
        The number of features of an action, for a loop of features.
    policy
        As in a study: its ``kind`` and its parameters.
    floor
        The least probability with which every arm on offer is played.
    reward, noise, bound, horizon, link, seed
        As for `Agent`, `LinearAgent` and `GLMAgent`.
    window
        How many seconds after a decision is shown its reward still counts.
    rewards
        Which of several rewards of one decision is learned: ``"first"`` at once, the others when
        the window closes.
    late
        ``"keep"`` counts rewards that come after the window, ``"learn"`` also learns them.
    missing
        None: what is missing teaches nothing. 0: a missing reward is learned as 0, which is
        wrong unless silence really means 0.
    store_features
        False to keep no features in the log. Only loops of arms can do without.
    retention
        Days after which events are deleted; None keeps them.
    """

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    name: str
    arms: list[str] | None = None
    retired: list[str] = []
    dimension: int | None = None
    policy: dict[str, Any]
    floor: float = 0.05
    reward: str = "gaussian"
    noise: float | None = None
    bound: float = 1.0
    horizon: int = 100_000
    link: str = "logistic"
    seed: int = 0
    window: float
    rewards: Literal["first", "last", "sum", "mean", "max"] = "first"
    late: Literal["keep", "learn"] = "keep"
    missing: Literal[0] | None = None
    store_features: bool = True
    retention: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the configuration as `loop_config` takes it."""
        return self.model_dump()

    @property
    def window_us(self) -> int:
        """The window in microseconds."""
        return round(self.window * 1e6)

    def agent(self, remember: int) -> Any:
        """Return a new agent of the loop, which has learned nothing."""
        raise NotImplementedError


def loop_config(content: dict[str, Any]) -> LoopConfig:
    """Return the configuration of a loop, or refuse it naming the field, the value and the fix."""
    raise NotImplementedError
