"""A generalized linear policy in live use: choose among vectors, then observe or miss."""

from __future__ import annotations

from typing import Any

import numpy as np

from halfseen import checks
from halfseen.agents.ledger import REMEMBER
from halfseen.agents.linear import LinearAgent
from halfseen.agents.saved_code import code_of
from halfseen.agents.saved_state import ROUNDING, SavedLinear, of_unit_length
from halfseen.checks import Vector
from halfseen.engine.arguments import (
    DESIGN,
    EXPLORING,
    FITTED_AT,
    GLM_NUMBERS,
    GLM_SIZES,
    INVERSE,
    LEARNED,
    LIMIT,
    PRIOR,
    REGULARIZATION,
    REPLICATION,
    TOLD,
    History,
)
from halfseen.engine.loops import live_glm as live
from halfseen.engine.loops.glm_steps import longer
from halfseen.engine.loops.live_glm import maximiser
from halfseen.engine.specialise import compiled
from halfseen.errors import InvalidInput, StorageError, shorten
from halfseen.policies import GLMPolicy
from halfseen.policies.glm.base import GLMSetting, check_index
from halfseen.problems.arms import LARGEST
from halfseen.problems.links import LINKS, link_named


class GLMAgent(LinearAgent):
    """A generalized linear policy with its state, used one decision at a time.

    Used like `LinearAgent`. Every observed round is kept, since the actions may be others each
    time: memory and the saved file grow with the observations, and the likelihood is maximised
    afresh whenever the determinant of the design has grown by a quarter.

    Parameters
    ----------
    policy
        The policy that chooses, for example `GLMUCB`.
    dimension
        Number of coordinates of an action.
    link
        ``"logistic"``, ``"probit"``, ``"poisson"``, ``"identity"`` or a `Link`.
    noise
        Sub-Gaussian scale of the rewards; left out, 1/2 for rewards 0 or 1, the root of the
        largest mean for counts, and 1 for others.
    bound
        A number the length of the unknown vector does not exceed.
    horizon
        The approximate number of decisions that will be made, for policies that use it.
    seed
        Seed of the draws of randomised policies.
    floor, probabilities, remember
        As for `LinearAgent`.

    Examples
    --------
    >>> from halfseen import GLMAgent, GLMUCB
    >>> agent = GLMAgent(GLMUCB(), dimension=2, link="logistic")
    >>> for clicked in (1, None, 0, 1):
    ...     decision = agent.choose([[1.0, 0.0], [0.0, 1.0]])
    ...     agent.observe(decision, clicked)
    >>> agent.observations, agent.exploring, agent.estimate.round(3).tolist()
    (3, False, [2.368, -2.368])
    """

    policy: GLMPolicy
    setting: GLMSetting

    def __init__(
        self,
        policy: GLMPolicy,
        dimension: int,
        *,
        link: Any = "logistic",
        noise: float | None = None,
        bound: float = 1.0,
        horizon: int = 100_000,
        seed: int = 0,
        floor: float = 0.0,
        probabilities: bool = True,
        remember: int = REMEMBER,
    ) -> None:
        if not isinstance(policy, GLMPolicy):
            raise InvalidInput(
                "GLMAgent.policy",
                "must be a policy for generalized linear bandits",
                policy,
                "Use GLMUCB(), or LinearAgent for a linear one.",
            )
        check_index(policy)
        curve = link_named("GLMAgent.link", link)
        length = checks.number("GLMAgent.bound", bound, at_least=0.0)
        curve.check("GLMAgent.link", length)
        if noise is None:
            noise = curve.usual_noise(length)
        told: dict[str, Any] = {
            "dimension": dimension,
            "noise": noise,
            "bound": bound,
            "horizon": horizon,
        }
        told = self._checked(told)
        self._told = told | {"link": curve.name}
        self.policy = policy
        self.setting = GLMSetting(**told, link=curve, reach=1.0)
        d = self.setting.dimension
        kernels = policy.kernels()
        self._select = compiled(live.choose_glm, kernels)
        self._absorb = compiled(live.learn_glm, kernels, fit=maximiser(curve.kernels))
        self._forget = compiled(live.reset_glm, kernels)
        matrices, vectors = GLM_SIZES
        self._matrices, self._vectors = np.zeros((matrices, d, d)), np.zeros((vectors, d))
        self._numbers = np.zeros(GLM_NUMBERS)
        self._numbers[REGULARIZATION] = policy.regularization
        self._numbers[LIMIT] = policy.limit(self.setting)
        if not policy.explores:
            self._matrices[PRIOR] = policy.penalty(self.setting) * np.eye(d)
        self._rounds = History(np.zeros((64, d)), np.zeros(64), np.ones(64), np.zeros(64))
        self._begin(seed, floor, probabilities, remember)

    @property
    def exploring(self) -> bool:
        """True while a policy that begins by exploring has not yet observed every direction."""
        return bool(self._numbers[EXPLORING])

    def _code(self) -> dict[str, str]:
        return code_of(policy=self.policy, link=self.setting.link)

    @staticmethod
    def _check_known(source: str, setting: dict[str, Any]) -> None:
        if setting["link"] not in LINKS:
            raise StorageError(
                f"{source} is whole, but its link {shorten(setting['link'])} is not known here."
                " Make the link first, as it was made where the agent was saved, then load."
            )

    def _inverts_design(self) -> bool:
        return not self.policy.explores  # which drops the ridge once it has explored

    def _reset(self) -> None:
        self._forget(*self._state)

    def _learn(self, action: Vector, reward: float) -> None:
        if self._numbers[LEARNED] == len(self._rounds[1]):
            self._rounds = longer(self._rounds)
        self._absorb(action, reward, *self._state, self._rounds)

    def _history(self) -> dict[str, Any]:
        learned = int(self._numbers[LEARNED])
        kept, paid, _, _ = self._rounds
        return {"kept": kept[:learned].tolist(), "paid": paid[:learned].tolist()}

    def _take_over(self, saved: SavedLinear) -> None:
        fixed = [LIMIT, REPLICATION]
        prior, limits = self._matrices[PRIOR].copy(), self._numbers[fixed]
        super()._take_over(saved)
        spread = [TOLD, FITTED_AT]
        longest = self._longest_spread()
        if not (
            np.array_equal(self._matrices[PRIOR], prior)
            and np.array_equal(self._numbers[fixed], limits)
            and np.all(np.abs(self._numbers[spread]) <= longest)
            and self._numbers[EXPLORING] in ((0.0, 1.0) if self.policy.explores else (0.0,))
        ):
            raise ValueError("state")
        learned, d = int(self._numbers[LEARNED]), self.setting.dimension
        kept, paid = np.array(saved.kept).reshape(-1, d), np.array(saved.paid)
        if len(kept) != learned or len(paid) != learned:
            raise ValueError("rounds")
        if not of_unit_length(kept) or np.any(np.abs(paid) > LARGEST):
            raise ValueError("rounds")
        self._check_design(kept)
        size = len(self._rounds[1])
        while size < learned:
            size *= 2
        rows, sums = np.zeros((size, d)), np.zeros(size)
        rows[:learned], sums[:learned] = kept, paid
        self._rounds = History(rows, sums, np.ones(size), np.zeros(size))

    def _check_design(self, kept: Vector) -> None:
        """Refuse a design that the stored rounds do not give, or an inverse of another."""
        d, lam = self.setting.dimension, self.policy.regularization
        design, inverse = self._matrices[DESIGN], self._matrices[INVERSE]
        if np.max(np.abs(design - lam * np.eye(d) - kept.T @ kept)) > ROUNDING * (lam + len(kept)):
            raise ValueError("design")
        if self.policy.explores and not self.exploring:
            design = design - lam * np.eye(d) + self._matrices[PRIOR]
        apart = np.max(np.abs(design @ inverse - np.eye(d)))
        if apart > 10.0 * ROUNDING * np.linalg.cond(design):
            raise ValueError("inverse")
