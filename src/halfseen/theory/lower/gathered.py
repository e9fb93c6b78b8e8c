"""All lower bounds for a problem in one object."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from halfseen import checks
from halfseen.censorship import Censorship
from halfseen.checks import Vector
from halfseen.display import Tabular
from halfseen.errors import InvalidInput
from halfseen.problems import ArmedBandit, LinearBandit, Problem
from halfseen.tables import Table, factor, show
from halfseen.theory.lower.arm_class import check_information
from halfseen.theory.lower.asymptotic import (
    NO_SLOPE,
    AsymptoticLowerBound,
    asymptotic_lower_bound,
)
from halfseen.theory.lower.finite_time import REGRET_FIX, FiniteLowerBound, finite_lower_bound
from halfseen.theory.lower.minimax import MinimaxLowerBound, minimax_lower_bound

if TYPE_CHECKING:
    import altair as alt

Found = TypeVar("Found")
SUBJECTS = {  # name of an input in a sentence about the problem
    "ArmedBandit.reward": "the rewards",
    "ArmedBandit.actions": "the arms",
    "ArmedBandit.means": "the arms",
    "ArmedBandit.noise": "the noise",
    "LinearBandit.actions": "the actions",
    "LinearBandit.reward": "the rewards",
    "censorship": "the censorship",
    "problem": "the problem",
    "observe": "the arms",
}


@dataclass(frozen=True, repr=False)
class LowerBounds(Tabular):
    """Lower bounds on the regret in one problem.

    Attributes
    ----------
    asymptotic
        The least slope of the regret in log T; None if it is not known.
    finite
        The bound at the horizon for policies good on neighbouring problems; None if unknown.
    minimax
        The regret that every policy exceeds on some problem with the same probabilities of being
        observed; None if unknown.
    reasons
        For each bound that is missing, by name, the condition under which it is known.
    """

    asymptotic: AsymptoticLowerBound | None
    finite: FiniteLowerBound | None
    minimax: MinimaxLowerBound | None
    reasons: dict[str, str]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON; None for missing bounds."""
        parts = {"asymptotic": self.asymptotic, "finite": self.finite, "minimax": self.minimax}
        found = {name: None if part is None else part.to_dict() for name, part in parts.items()}
        return found | {"reasons": dict(self.reasons)}

    def table(self) -> Table:
        """Return one row per bound that is known."""
        rows = [
            ("asymptotic", "C, in C log T", self.asymptotic and self.asymptotic.constant),
            ("finite", "regret", self._holding and self._holding.value),
            ("minimax", "regret", self.minimax and self.minimax.value),
        ]
        return Table(("bound", "of", "at least"), tuple(row for row in rows if row[2] is not None))

    def plot(self) -> alt.Chart:
        """Return a chart of each action's contribution to the least slope of the regret."""
        from halfseen.report.core.arm_rows import bars

        if self.asymptotic is None:
            raise InvalidInput(
                "LowerBounds.plot",
                "needs a least slope of the regret",
                "none",
                f"For a bound, {self.reasons['asymptotic']}.",
            )
        terms = self.asymptotic.terms
        names = [str(action) for action in range(len(terms))]
        title = f"share of each action in C = {show(self.asymptotic.constant)}, in C log T"
        return bars(names, terms, title=title)

    @property
    def _holding(self) -> FiniteLowerBound | None:
        """The bound at the horizon, unless it is 0 or no policy satisfies its condition."""
        low = self.finite
        return low if low is not None and low.possible and low.says_something else None

    def _headline(self) -> str:
        said = []
        if self.asymptotic is not None and self.asymptotic.constant > 0.0:
            said.append(f"{show(self.asymptotic.constant)} log T as T grows")
        if self._holding is not None:
            said.append(
                f"{show(self._holding.value)} by round {show(float(self._holding.horizon))}"
            )
        if self.minimax is not None and self.minimax.value > 0.0:
            said.append(f"{show(self.minimax.value)} in the worst case")
        return f"regret is at least {', '.join(said)}" if said else "no lower bound is known"

    def _details(self) -> list[str | Table]:
        return list(self.sentences())

    def sentences(self) -> list[str]:
        """Return each bound as a sentence, and why the least slope is unknown if it is."""
        said = []
        if self.asymptotic is None:
            said.append(f"No least slope is known here: for a bound, {self.reasons['asymptotic']}.")
        else:
            low = self.asymptotic
            text = f"As T grows, regret grows at least like {show(low.constant)} log T"
            text += f" for any consistent policy ({low.reference})."
            if low.constant == 0.0:
                text = f"{NO_SLOPE[0].upper()}{NO_SLOPE[1:]}."
            if low.worth > 1.0 + 1e-9:
                text += f" Ignoring p costs {factor(low.worth)} times that."
            said.append(text)
        if self.finite is not None:
            said.append(str(self.finite))
        if self.minimax is not None and self.minimax.value > 0.0:
            said.append(
                f"Every policy loses at least {show(self.minimax.value)} on some problem observed"
                " with these probabilities, whose means are up to"
                f" {show(self.minimax.largest_mean)} apart."
            )
        return said


def lower_bounds(
    problem: ArmedBandit | LinearBandit,
    censorship: Censorship,
    horizon: float,
    regret: float,
) -> LowerBounds:
    r"""Return every lower bound known for a problem, and why others are missing.

    Parameters
    ----------
    problem
        The arms, or a linear bandit.
    censorship
        The probability that each action's reward is observed.
    horizon
        Number of rounds T.
    regret
        The regret B of `finite_lower_bound`: an upper bound on the policy's regret on this problem
        and its neighbours.

    Returns
    -------
    LowerBounds
        The bounds of `asymptotic_lower_bound`, `finite_lower_bound` and `minimax_lower_bound`.

    References
    ----------
    Those of the three functions.

    Examples
    --------
    >>> from halfseen import ArmedBandit, PerArm
    >>> arms = ArmedBandit([0.5, 0.4, 0.3, 0.2, 0.1], noise=0.5)
    >>> for said in lower_bounds(arms, PerArm([0.3, 0.9, 0.1, 0.5, 0.2]), 1e6, 600).sentences():
    ...     print(said)
    As T grows, regret grows at least like 40.14 log T for any consistent policy (Lai, Robbins (1985); Burnetas, Katehakis (1996)).
    By round 1,000,000 it is at least 61.67 for any policy that loses at most 600 here and wherever one worse arm is raised above the best.
    Every policy loses at least 503.5 on some problem observed with these probabilities, whose means are up to 0.00135 apart.
    """  # noqa: E501
    world: tuple[Any, Any] = (problem, censorship)
    for field, value, kind, fix in (
        ("problem", problem, Problem, "Use ArmedBandit or LinearBandit."),
        ("censorship", censorship, Censorship, "Use PerArm, or PerAction for linear bandits."),
    ):
        if not isinstance(value, kind):
            raise InvalidInput(field, f"must be a {kind.__name__}", value, fix)
    time = checks.number("horizon", horizon, above=0.0, fix="Give the number of rounds.")
    checks.number("regret", regret, at_least=0.0, fix=REGRET_FIX)
    reasons: dict[str, str] = {}

    def tried(name: str, compute: Callable[[], Found]) -> Found | None:
        try:
            return compute()
        except InvalidInput as error:
            subject = SUBJECTS.get(error.field, error.field)
            reasons[name] = f"{subject} {error.requirement.removesuffix(' for a lower bound')}"
            return None

    return LowerBounds(
        asymptotic=tried("asymptotic", lambda: asymptotic_lower_bound(problem, censorship)),
        finite=tried("finite", lambda: finite_lower_bound(world[0], world[1], time, regret)),
        minimax=tried("minimax", lambda: _minimax(problem, censorship, time)),
        reasons=reasons,
    )


def slope_in_log(rounds: Any, regret: Vector) -> tuple[int, Vector]:
    """Return the growth of regret per unit of log T over the last factor of ten of the rounds.

    It is the quantity to compare with the asymptotic constant.

    Parameters
    ----------
    rounds
        Rounds at which the regret was recorded, increasing.
    regret
        Regret at those rounds, one row per replication.

    Returns
    -------
    tuple
        The round from which the growth is measured, and the slope of each replication.
    """
    last = rounds[-1]
    start = max(int(np.searchsorted(rounds, last / 10.0, side="right")) - 1, 0)
    if rounds[start] >= last:
        return int(last), np.full(len(regret), math.nan)
    grown = np.asarray(regret[:, -1], dtype=float) - regret[:, start]
    return int(rounds[start]), grown / math.log(last / rounds[start])


def _minimax(problem: Any, censorship: Any, horizon: float) -> MinimaxLowerBound:
    from halfseen.theory.arms.dimension import has_fixed_arms

    if not isinstance(problem, ArmedBandit) or not has_fixed_arms(problem):
        raise InvalidInput("problem", "must have the same arms in every round", problem, "")
    reward = checks.one_of(
        "ArmedBandit.reward",
        getattr(problem.reward, "kind", problem.reward),
        ("gaussian", "bernoulli"),
    )
    check_information(censorship)
    arms = problem.playable
    observe = censorship.rates(problem)[arms]
    return minimax_lower_bound(observe, horizon, noise=problem.scale[arms], reward=reward)
