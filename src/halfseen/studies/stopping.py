"""Where a study may declare winners."""

from __future__ import annotations

from typing import TYPE_CHECKING

from halfseen import checks
from halfseen.errors import InvalidInput
from halfseen.problems.rewards import FAMILIES, family_of

if TYPE_CHECKING:
    from halfseen.studies.study import Study


def stopping_level(stop: str | None, level: float | None) -> float | None:
    """Return the level of a stopping rule, 0.95 if left out; None without a rule."""
    if stop is None and level is not None:
        raise InvalidInput(
            "Study.level", "must be left out without a stopping rule", level, 'Add stop="winner".'
        )
    if stop is None:
        return None
    given = 0.95 if level is None else level
    return checks.number("Study.level", given, above=0.0, below=1.0, fix="Use 0.95.")


def check_stop(study: Study) -> None:
    """Refuse a stopping rule where its level does not hold."""
    if study.stop is None:
        return
    if study.linear:
        raise InvalidInput(
            "Study.stop",
            "must be left out for linear bandits: a winner is declared among arms",
            study.stop,
            "Leave it out, or make the problems armed bandits.",
        )
    for name, censorship in study.censorships.items():
        if censorship.depends_on_reward:
            late = censorship.delayed is not None
            use = 'sends="all" and one delay law per arm' if late else "PerArm"
            raise InvalidInput(
                f"Study.censorships[{name!r}]",
                "must not let what is missing depend on rewards to declare a winner",
                censorship,
                f"Leave `stop` out, or use {use}: observed means are biased here.",
            )
    for name, bandit in study.bandits.items():
        if family_of(bandit.law) is None:
            raise InvalidInput(
                f"Study.problems[{name!r}]",
                f"must have rewards that are {', '.join(FAMILIES)} or of a sub-Gaussian law to"
                " declare a winner",
                bandit.law.kind,
                "Leave `stop` out, or use one of these laws.",
            )
