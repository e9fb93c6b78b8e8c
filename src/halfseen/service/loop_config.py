"""The configuration of a loop: its arms or features, its policy, and the meaning of outcomes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from halfseen import checks
from halfseen.agents.arms import Agent
from halfseen.agents.glm import GLMAgent
from halfseen.agents.ledger import LONGEST as LONGEST_ID
from halfseen.agents.ledger import REMEMBER
from halfseen.agents.linear import LinearAgent
from halfseen.errors import InvalidInput, InWords, counted_entries, did_you_mean
from halfseen.policies import GLM_POLICIES, LINEAR_POLICIES, GLMPolicy, ImputeZero, LinearPolicy
from halfseen.studies.spec import linear_policy_from, policy_from

if TYPE_CHECKING:
    from halfseen.agents.base import LiveAgent

LONGEST_WINDOW = 10 * 366 * 86_400.0  # seconds
MOST_DAYS = 36_600.0  # of retention
LONGEST_NAME = 64
MOST_ARMS = 10_000
MOST_FEATURES = 1000
NOT_CLOSED = {  # reward laws whose sums, or means, do not follow the same law
    "sum": ("bernoulli", "uniform", "rademacher"),
    "mean": ("bernoulli", "rademacher", "poisson"),
}


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
        ``"keep"`` counts rewards that come after the window, ``"learn"`` also learns the first
        of them if none came in time; it goes with ``rewards = "first"`` only.
    missing
        None: missing rewards are skipped. 0: a missing reward is learned as 0, which is wrong
        unless no answer really means 0. A late one that is learned replaces the 0, as for `Agent`;
        in loops of features it cannot, and is counted only.
    store_features
        False to keep no features in the log, nor which arms were on offer. Only loops of arms can
        do without.
    retention
        Days after which decisions that have ended are deleted; None keeps them.
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

    def agent(self) -> LiveAgent:
        """Return a new agent of the loop; InvalidInput if the settings do not fit together."""
        common: Any = {
            "bound": self.bound,
            "horizon": self.horizon,
            "seed": self.seed,
            "floor": self.floor,
            "remember": REMEMBER,
        }
        if self.arms is not None:
            policy = policy_from(self.policy)
            if self.missing == 0:
                policy = ImputeZero(policy)
            return Agent(policy, self.arms, noise=self.noise, reward=self.reward, **common)
        assert self.dimension is not None
        linear = linear_policy_from(self.policy)
        if self.missing == 0:
            linear = _imputing(linear)
        if isinstance(linear, GLMPolicy):
            more: Any = {"link": self.link, "noise": self.noise}
            return GLMAgent(linear, self.dimension, **more, **common)
        noise = 1.0 if self.noise is None else self.noise
        return LinearAgent(linear, self.dimension, noise=noise, **common)

    def offered(self) -> list[str]:
        """Return the arms that are not retired."""
        gone = set(self.retired)
        return [arm for arm in self.arms or [] if arm not in gone]

    def same_but_arms(self, other: LoopConfig) -> bool:
        """Return whether both learn the same from a log, except for added or retired arms."""
        free: Any = {"arms": None, "retired": [], "floor": 0.0, "retention": None, "window": 1.0}
        free["store_features"] = True
        return self.model_copy(update=free) == other.model_copy(update=free)


def _imputing(policy: LinearPolicy) -> LinearPolicy:
    """Return the policy that learns 0 from missing rewards."""
    kinds = {**LINEAR_POLICIES, **GLM_POLICIES}
    for kind in kinds.values():
        if kind.imputes and issubclass(kind, type(policy)):
            made: LinearPolicy = kind(**vars(policy))
            return made
    raise InvalidInput(
        "missing",
        f"must be null for the policy {policy.kind}, which cannot learn 0 for missing rewards",
        0,
        "Leave it out: missing rewards are then skipped.",
    )


def loop_config(content: Any) -> LoopConfig:
    """Return the configuration of a loop, or refuse it naming the field, the value and the fix.

    Examples
    --------
    >>> given = {"name": "banner", "arms": ["a", "b"], "policy": {"kind": "ucb"}, "window": 60}
    >>> loop_config(given).rewards
    'first'
    >>> loop_config(given | {"window": -1})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    halfseen.errors.InvalidInput: `window` must be a finite number above 0 ...
    """
    if not isinstance(content, dict):
        raise InvalidInput("loop", "must be a table of settings", content, "Give name, arms, ...")
    try:
        config = LoopConfig.model_validate(content)
    except ValidationError as error:
        raise _refused(error) from None
    _check_name(config.name)
    _check_choices(config)
    limit = "Give seconds, such as 86400 for a day."
    checks.number("window", config.window, above=0.0, at_most=LONGEST_WINDOW, fix=limit)
    if config.retention is not None:
        window = config.window / 86_400.0
        days = "Give more days than the window lasts, or null."
        checks.number("retention", config.retention, at_least=window, at_most=MOST_DAYS, fix=days)
    if config.reward in NOT_CLOSED.get(config.rewards, ()):
        raise InvalidInput(
            "rewards",
            f"must be first, last or max where rewards are {config.reward}",
            config.rewards,
            "A sum or a mean of such rewards is not one of them.",
        )
    if config.late == "learn" and config.rewards != "first":
        raise InvalidInput(
            "late",
            f'must be "keep" where rewards is "{config.rewards}": late rewards come one by one,'
            " after the others were learned",
            config.late,
            'Leave it out, or use rewards = "first".',
        )
    try:
        agent = config.agent()
    except InvalidInput as error:
        field = error.field.removeprefix("GLM").removeprefix("Linear").removeprefix("Agent.")
        raise InvalidInput(field, error.requirement, error.value, error.fix) from None
    if config.rewards == "sum" and isinstance(agent, Agent) and agent.setting.unit_interval:
        raise InvalidInput(
            "rewards",
            f"must be first, last, mean or max where rewards are {config.reward}",
            config.rewards,
            "A sum of such rewards may be above 1.",
        )
    return config


def _check_name(name: str) -> None:
    if not re.fullmatch(rf"[A-Za-z0-9][A-Za-z0-9._-]{{0,{LONGEST_NAME - 1}}}", name):
        raise InvalidInput(
            "name",
            f"must have 1 to {LONGEST_NAME} letters, digits, dots, hyphens and underscores, and"
            " begin with a letter or a digit",
            name,
            'Use for example "banner".',
        )


def _check_choices(config: LoopConfig) -> None:
    """Refuse a loop that is neither of arms nor of features, or of both."""
    if (config.arms is None) == (config.dimension is None):
        raise InvalidInput(
            "arms",
            "must be given, or else `dimension`, but not both",
            config.arms,
            'Give arms = ["a", "b"], or dimension = 8 if actions come with features.',
        )
    if config.dimension is not None and config.dimension > MOST_FEATURES:
        raise InvalidInput(
            "dimension",
            f"must be at most {MOST_FEATURES:,}",
            config.dimension,
            "Hash or project the features to fewer.",
        )
    if config.arms is None:
        if not config.store_features:
            raise InvalidInput(
                "store_features",
                "must be true for a loop of features: its state is rebuilt from the log",
                False,
                "Leave it out and set `retention` to delete them after some days.",
            )
        return
    if not config.arms:
        raise InvalidInput("arms", "must name at least one arm", [], 'Give arms = ["a", "b"].')
    for place, arm in enumerate(config.arms):
        if not 1 <= len(arm) <= LONGEST_ID or not arm.isprintable():
            raise InvalidInput(
                f"arms[{place}]",
                f"must be a printable name of at most {LONGEST_ID} characters",
                arm,
                'Use for example "a".',
            )
    if len(config.arms) > MOST_ARMS:
        raise InvalidInput(
            "arms",
            f"must be at most {MOST_ARMS:,}",
            counted_entries(len(config.arms)),
            "Use fewer.",
        )
    for arm in config.retired:
        if arm not in config.arms:
            raise InvalidInput(
                "retired", "must be among the arms", arm, did_you_mean(arm, config.arms)
            )
    if not config.offered():
        raise InvalidInput("retired", "must leave an arm on offer", config.retired, "Keep one.")


def _refused(error: ValidationError) -> InvalidInput:
    """Return the first validation error of pydantic as InvalidInput."""
    found = error.errors()
    unknown = [one for one in found if one["type"] == "extra_forbidden"]
    first = (unknown or found)[0]  # a missing field may be a misspelt one
    field = ".".join(str(part) for part in first["loc"])
    value = first["input"]
    if first["type"] == "extra_forbidden":
        known = list(LoopConfig.model_fields)
        return InvalidInput(field, "must be a setting of a loop", value, did_you_mean(field, known))
    if first["type"] == "missing":
        return InvalidInput(field, "must be given", InWords("nothing"), "Add it to the loop.")
    if first["type"] == "dict_type":
        fix = 'Write { kind = "ucb" } in TOML, {"kind": "ucb"} in JSON.'
        return InvalidInput(field, "must be a table with a kind", value, fix)
    said = first["msg"].removeprefix("Input ")
    said = f"{said[0].lower()}{said[1:]}".removeprefix("should ")
    return InvalidInput(field, f"must {said}", value, "Correct it.")
