"""One cell of a study of generalized linear bandits, laid out as arrays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from halfseen.checks import Vector
from halfseen.engine.cells.linear import LinearCell
from halfseen.engine.loops.glm_changing_set import play_glm_contexts
from halfseen.engine.loops.glm_fixed_set import play_glm
from halfseen.engine.loops.live_glm import choose_glm, learn_glm, reset_glm, with_link
from halfseen.glm_fit import maximiser, unreachable
from halfseen.policies.glm_policy import GLMPolicy, GLMSetting
from halfseen.problems.action_arrays import row_blocks
from halfseen.problems.contexts import FiniteActions, SequenceOfActions
from halfseen.problems.glm import GeneralizedLinearBandit


@dataclass(frozen=True)
class GLMCell(LinearCell):
    """What is played, and where along the way it is looked at."""

    problem: GeneralizedLinearBandit
    policy: GLMPolicy

    @property
    def loop(self) -> Callable[..., None]:
        """The loop that plays this kind of actions."""
        return play_glm if self.same_actions else play_glm_contexts

    @property
    def open_names(self) -> dict[str, Any]:
        """What the loop's open names stand for, beside the policy's kernels."""
        link, kernels = self.problem.curve.kernels, self.policy.kernels()
        names = super().open_names | {"reward": link.reward}
        if self.same_actions:
            return names | {"fit": maximiser(link)}
        parts = {"choose": choose_glm, "learn": learn_glm, "reset": reset_glm}
        filled = {name: with_link(part, kernels, link) for name, part in parts.items()}
        return names | filled | {"mean": link.mean}

    @property
    def setting(self) -> GLMSetting:
        """What the policy is told before the first round."""
        problem = self.problem
        return GLMSetting(
            problem.dimension,
            problem.noise,
            problem.norm,
            self.horizon,
            problem.curve,
            problem.reach,
        )

    def check_policy(self) -> None:
        """Refuse constants no width can be made of."""
        self.policy.table(self.setting)

    def arguments(self) -> tuple[Any, ...]:
        """Return the loop's arguments between the replications and the tracks."""
        arguments = super().arguments()
        place = 4 if self.same_actions else 3
        missing = self._unreachable()
        theta = arguments[place] - missing @ arguments[place]
        penalty = self.policy.penalty(self.setting)
        prior = missing if self.policy.explores else penalty * np.eye(len(theta))
        limit = float(self.policy.limit(self.setting))
        return (*arguments[:place], theta, limit, prior, *arguments[place + 1 :])

    def _unreachable(self) -> Vector:
        """Return the projection on the directions in which no action points."""
        actions, d = self.problem.actions, self.problem.dimension
        if isinstance(actions, FiniteActions):
            return unreachable(actions.actions.T @ actions.actions)
        if isinstance(actions, SequenceOfActions):
            blocks = (block.reshape(-1, d) for block in row_blocks(actions.array))
            return unreachable(sum((rows.T @ rows for rows in blocks), np.zeros((d, d))))
        return np.zeros((d, d))
