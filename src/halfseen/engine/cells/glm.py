"""One cell of a study of generalized linear bandits, laid out as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from halfseen.checks import Vector
from halfseen.engine.cells.linear import LinearCell, filled
from halfseen.engine.loops import drawn_glm, fixed_glm
from halfseen.engine.loops.feedback import link_feedback
from halfseen.engine.loops.glm_steps import longer
from halfseen.engine.loops.live_glm import choose_glm, learn_glm, maximiser, reset_glm, with_link
from halfseen.kernels.glm_newton import unreachable
from halfseen.policies.glm.base import GLMPolicy, GLMSetting, check_index
from halfseen.problems.action_arrays import row_blocks
from halfseen.problems.glm import GeneralizedLinearBandit

FIXED_GLM = (fixed_glm.reset, fixed_glm.shake, fixed_glm.learn, fixed_glm.misses)
DRAWN_GLM = (drawn_glm.reset, drawn_glm.choose, drawn_glm.learn, drawn_glm.misses, longer)
LIVE = (choose_glm, learn_glm, reset_glm)


@dataclass(frozen=True, eq=False)
class GLMCell(LinearCell):
    """A problem, a censorship and a policy, with the rounds recorded."""

    problem: GeneralizedLinearBandit
    policy: GLMPolicy

    fits: ClassVar[bool] = True

    def _names(self, jumps: bool) -> dict[str, Any]:
        link, kernels = self.problem.curve.kernels, self.policy.kernels()
        if self.same_actions:
            names = filled(FIXED_GLM, kernels, (("fit", maximiser(link)),))
            law = filled((link_feedback,), kernels, (("reward", link.reward),))
            return names | {"JUMPS": jumps, "feedback": law["link_feedback"]}
        names = self._changing_names(jumps)
        live = {part.__name__: with_link(part, kernels, link) for part in LIVE}
        own = live | {"mean": link.mean, "draw": names["draw"], "DRAWN": names["DRAWN"]}
        parts = filled(DRAWN_GLM, kernels, tuple(own.items()))
        return names | parts | {"KEEPS": True, "reward": link.reward}

    @property
    def setting(self) -> GLMSetting:
        """The setting passed to the policy before the first round."""
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
        """Raise for kernels that no loop calls, and constants without a valid confidence width."""
        check_index(self.policy)
        self.policy.table(self.setting)

    def _likelihood(self, theta: Vector) -> tuple[Vector, float, Vector]:
        """Return theta within the span of the actions, and the likelihood's limit and prior."""
        missing = self._unreachable()
        theta = theta - missing @ theta
        penalty = self.policy.penalty(self.setting)
        prior = missing if self.policy.explores else penalty * np.eye(len(theta))
        return theta, float(self.policy.limit(self.setting)), prior

    def _unreachable(self) -> Vector:
        """Return the projection onto the directions that no action spans."""
        actions, d = self.problem.actions, self.problem.dimension
        if actions.fixed is not None:
            return unreachable(actions.fixed.T @ actions.fixed)
        if actions.given is not None:
            blocks = (block.reshape(-1, d) for block in row_blocks(actions.given))
            return unreachable(sum((rows.T @ rows for rows in blocks), np.zeros((d, d))))
        return np.zeros((d, d))
