"""Where a study may declare winners."""

from __future__ import annotations

from typing import TYPE_CHECKING

from halfseen.errors import InvalidInput

if TYPE_CHECKING:
    from halfseen.studies.study import Study


def check_stop(study: Study) -> None:
    """Refuse a stopping rule where its level does not hold or no engine follows it."""
    if study.stop is None:
        return
    if study.linear:
        raise InvalidInput(
            "Study.stop",
            "must be left out for linear bandits: a winner is declared among arms",
            study.stop,
            "Leave it out, or make the problems armed bandits.",
        )
    if study.late:
        raise InvalidInput(
            "Study.stop",
            "must be left out with late feedback, or policies that count what they played",
            study.stop,
            "Leave it out, or use another censorship and policy.",
        )
    for name, censorship in study.censorships.items():
        if censorship.depends_on_reward:
            raise InvalidInput(
                "Study.stop",
                f"must be left out where rewards decide what is seen, as in censorships.{name}:"
                " observed means are biased, and the level does not hold",
                study.stop,
                "Leave it out, or use PerArm.",
            )
    for name, bandit in study.bandits.items():
        if not bandit.law.sub_gaussian:
            raise InvalidInput(
                f"Study.problems[{name!r}]",
                "must have rewards of a sub-Gaussian law to declare a winner",
                bandit.law.kind,
                "Leave `stop` out, or use gaussian, bernoulli, uniform or rademacher rewards.",
            )
