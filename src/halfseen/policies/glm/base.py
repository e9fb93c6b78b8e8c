"""The contract of a policy for generalized linear bandits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from halfseen.errors import InvalidInput
from halfseen.kernels.reachable import renewed
from halfseen.policies.linear.base import LinearKernels, LinearPolicy, LinearSetting
from halfseen.problems.links import Link

SEEN_ONCE = 1.0 - 1e-9  # exploration ends when the smallest eigenvalue exceeds it
GROWTH = 0.25  # relative growth of the determinant at which the likelihood is fitted again
FLATTEST = 1e-100  # smaller curvatures are treated as 0


@dataclass(frozen=True, eq=False)
class GLMSetting(LinearSetting):
    """What a policy may know before the first round of a generalized linear bandit.

    Attributes
    ----------
    link
        The curve from <a, theta> to the mean reward, and the law of the rewards.
    reach
        The length of the longest action.
    """

    link: Link
    reach: float


@dataclass(frozen=True)
class GLMKernels(LinearKernels):
    """The algorithm of a policy for generalized linear bandits, apart from its parameters."""

    explores: bool

    def names(self) -> dict[str, Any]:
        """Return the kernels by the names under which the loop calls them."""
        return super().names() | {"EXPLORES": self.explores}


class GLMPolicy(LinearPolicy):
    r"""How to choose a vector from what has been seen of generalized linear rewards.

    The engine owns the maximum likelihood estimate on observed rounds, see
    `halfseen.kernels.glm_newton`, and plays the action with the largest index. The index kernel
    is that of `LinearPolicy`, on the scale of :math:`\langle a,\theta\rangle`: since the curve
    increases, what is best there is best. A random shift has the covariance of the Laplace
    approximation, the inverse curvature of the penalised likelihood.

    Attributes
    ----------
    explores
        True to play the most uncertain action until every direction was seen once,
        :math:`\lambda_{\min}(\sum xaa')\ge1`, and to maximise the likelihood without a penalty from
        then on. Widths are then those of :math:`\sum xaa'`, and the kernels are given
        :math:`d\log(1+2n/d)` for the log-determinant, n the number of observations.
    """

    explores: ClassVar[bool] = False
    bound: float | None = None
    noise: float | None = None
    kappa: float | None = None

    def kernels(self) -> GLMKernels:
        """Return the algorithm without its parameters."""
        return GLMKernels(
            renewed(self.index),
            renewed(self.radius),
            self.samples,
            self.imputes,
            self.waits,
            self.explores,
        )

    def limit(self, setting: LinearSetting) -> float:
        """Return Z, an upper bound on |<a, theta>|."""
        bound = setting.bound if self.bound is None else self.bound
        return _glm(setting).reach * bound

    def curvature(self, setting: LinearSetting) -> float:
        """Return kappa: the smallest curvature of one observation on [-Z, Z], unless given."""
        if self.kappa is not None:
            return self.kappa
        least = _glm(setting).link.bends(self.limit(setting))[0]
        if not least > FLATTEST:
            raise InvalidInput(
                f"{type(self).__name__}.bound",
                f"must leave the {_glm(setting).link.name} link some slope",
                self.limit(setting),
                "Lower it, or give kappa.",
            )
        return least

    def scale(self, setting: LinearSetting) -> float:
        """Return the sub-Gaussian scale of the score of one observation."""
        told = setting.noise if self.noise is None else self.noise
        return told * _glm(setting).link.bends(self.limit(setting))[1]

    def penalty(self, setting: LinearSetting) -> float:
        """Return the precision of the prior that penalises the likelihood."""
        return self.regularization

    def _keep_constants(self) -> None:
        self._keep("bound", at_least=0.0)
        self._keep("noise", at_least=0.0)
        self._keep("kappa", above=0.0)


def check_index(policy: LinearPolicy) -> None:
    """Refuse a policy without an index, the only kernel that the loops of these bandits call."""
    if policy.index is None or policy.choose is not None:
        raise InvalidInput(
            "policy",
            "must have a kernel `index`, and no `choose`, for generalized linear bandits",
            policy,
            "Write an index of an action's estimate and width.",
        )


def _glm(setting: LinearSetting) -> GLMSetting:
    if not isinstance(setting, GLMSetting):
        raise InvalidInput(
            "setting", "must be that of a generalized linear bandit", setting, "Name its link."
        )
    return setting
