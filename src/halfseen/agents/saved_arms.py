"""The content of a saved agent for arms, and whether it is consistent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from halfseen.policies.arms.base import COUNT, TOTAL, count_and_sum
from halfseen.problems.arms import LARGEST

if TYPE_CHECKING:
    from halfseen.agents.arms import Agent


class SavedAgent(BaseModel):
    """The content of a file that `Agent.save` writes: types here, consistency in `fits`."""

    model_config = ConfigDict(extra="ignore", strict=True, allow_inf_nan=False)

    policy: dict[str, Any]
    code: dict[str, str]
    setting: dict[str, Any]
    seed: int
    decisions: int
    observations: list[int]
    state: list[list[float]]
    pending: list[Annotated[list[int], Field(min_length=2, max_length=2)]]
    missed: list[int] | None = None
    plays: list[int] | None = None
    totals: list[float] | None = None

    def fits(self, agent: Agent) -> bool:
        """Return whether the numbers could be those of such an agent."""
        arms, statistics = agent._state.shape
        settled = self.decisions - len({number for number, _ in self.pending})
        return (
            len(self.state) == len(self.observations) == arms
            and all(len(row) == statistics for row in self.state)
            and self.decisions <= 2**48
            and min(self.observations) >= 0
            and sum(self.observations) <= settled == self.decisions - len(self.pending)
            and all(1 <= number <= self.decisions for number, _ in self.pending)
            and all(0 <= arm < arms for _, arm in self.pending)
            and self._plays_fit(settled)
            and self._totals_fit(agent)
            and self._state_fits(agent)
        )

    def _plays_fit(self, settled: int) -> bool:
        if self.plays is None or self.missed is None:  # saved by an earlier version
            return self.plays is self.missed
        rows = list(zip(self.plays, self.missed, self.observations, strict=False))
        return (
            len(self.plays) == len(self.missed) == len(self.observations)
            and sum(self.plays) + sum(self.missed) == settled
            and all(plays >= seen and missed >= 0 for plays, missed, seen in rows)
        )

    def _totals_fit(self, agent: Agent) -> bool:
        if self.totals is None:
            return True
        most = 1.0 if agent._binary else LARGEST
        pairs = list(zip(self.totals, self.observations, strict=False))
        return len(self.totals) == len(self.observations) and all(
            abs(total) <= most * seen * (1.0 + 1e-9) for total, seen in pairs
        )

    def _state_fits(self, agent: Agent) -> bool:
        kernels = agent.policy.kernels()
        state, seen = np.array(self.state), np.array(self.observations)
        counts = state[:, COUNT]
        if not np.all(counts >= seen if kernels.fill else counts == seen):
            return False
        if not np.all(np.abs(state) <= LARGEST * LARGEST * (1.0 + counts[:, None])):
            return False
        if kernels.learn is not count_and_sum:
            return True
        totals = state[:, TOTAL]
        if not agent._binary:
            return bool(np.all(np.abs(totals) <= LARGEST * counts * (1.0 + 1e-9)))
        return bool(np.all((totals >= 0.0) & (totals <= counts * (1.0 + 1e-9))))
