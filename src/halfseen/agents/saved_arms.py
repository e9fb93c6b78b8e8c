"""The content of a saved agent for arms, and whether it is consistent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import BaseModel, ConfigDict

from halfseen.agents.ledger import PENDING
from halfseen.agents.saved_state import earlier
from halfseen.policies.arms.base import COUNT, TOTAL, count_and_sum
from halfseen.problems.arms import LARGEST

if TYPE_CHECKING:
    from halfseen.agents.arms import Agent
    from halfseen.agents.ledger import Ledger


class SavedAgent(BaseModel):
    """The content of a file that `Agent.save` writes: types here, consistency in `fits`."""

    model_config = ConfigDict(extra="ignore", strict=True, allow_inf_nan=False)

    policy: dict[str, Any]
    code: dict[str, str]
    setting: dict[str, Any]
    seed: int
    observations: list[int]
    state: list[list[float]]
    names: list[str] | None = None
    floor: float = 0.0
    probabilities: bool = True
    missed: list[int] | None = None
    plays: list[int] | None = None
    totals: list[float] | None = None

    def fits(self, agent: Agent) -> bool:
        """Return whether the numbers could be those of such an agent."""
        arms, statistics = agent._state.shape
        ledger = agent._ledger
        settled = ledger.observed + ledger.censored
        return (
            len(self.state) == len(self.observations) == arms
            and all(len(row) == statistics for row in self.state)
            and min(self.observations) >= 0
            and self._observations_fit(ledger)
            and self._plays_fit(settled)
            and self._totals_fit(agent)
            and self._state_fits(agent)
        )

    def _observations_fit(self, ledger: Ledger) -> bool:
        """Return whether the observations of all arms are those of all decisions."""
        return sum(self.observations) == ledger.observed

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
        most = 1.0 if agent.setting.reward == "bernoulli" else LARGEST
        pairs = list(zip(self.totals, self.observations, strict=False))
        return len(self.totals) == len(self.observations) and all(
            abs(total) <= most * seen * (1.0 + 1e-9) for total, seen in pairs
        )

    def _state_fits(self, agent: Agent) -> bool:
        kernels = agent.policy.kernels()
        state, seen = np.array(self.state), np.array(self.observations)
        counts = state[:, COUNT]
        late = agent._ledger.late  # which a policy that imputes may not have learned
        if not np.all(counts + late >= seen if kernels.fill else counts == seen):
            return False
        if not np.all(np.abs(state) <= LARGEST * LARGEST * (1.0 + counts[:, None])):
            return False
        if kernels.learn is not count_and_sum:
            return True
        totals = state[:, TOTAL]
        if agent.setting.reward != "bernoulli":
            return bool(np.all(np.abs(totals) <= LARGEST * counts * (1.0 + 1e-9)))
        return bool(np.all((totals >= 0.0) & (totals <= counts * (1.0 + 1e-9))))


def renewed_arms(content: dict[str, Any]) -> dict[str, Any]:
    """Convert the format of an earlier version, which kept only open decisions."""
    made, seen = content["decisions"], sum(content["observations"])
    pending = [
        [number, number, arm, arm, None, 0.0, None, PENDING, None]
        for number, arm in content["pending"]
    ]
    return content | {"ledger": earlier(made, seen, pending)}
