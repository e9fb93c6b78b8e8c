"""The findings of a study, in sentences."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from halfseen.phrases import counted
from halfseen.report.study.linear_measures import rarely_seen_best
from halfseen.report.study.measures import (
    Place,
    baseline_of,
    change_of_regret,
    final_regret,
    places,
    share_seen,
)
from halfseen.studies.result import Result
from halfseen.studies.student_intervals import MeanInterval
from halfseen.studies.study import Study
from halfseen.tables import percent
from halfseen.theory.along_a_run import bounded_policies

ASSUMPTION = (
    "Every number here assumes that, given the {one}, whether a reward is seen does not depend on"
    " the reward. If, say, unhappy users answer less often, none of them holds."
)
NOT_AT_RANDOM = (
    "Under {which} whether a reward is seen depends on the reward: seen rewards are a biased sample"
    " there, no bound holds, and the effective dimension says nothing about regret."
)
ONE_REPLICATION = (
    "One replication was run, so there are no intervals, and any difference may be chance."
)
WORST_CASE = (
    "The effective dimension, the sum of 1/p over the arms, is how many always-seen arms would be"
    " as hard to learn in the worst case. It is a worst-case number: at the same effective"
    " dimension regret can differ by a large factor, depending on which arms are rarely seen."
)
WORST_CASE_LINEAR = (
    "The worst case, d/p_min, is the dimension over the smallest chance of being seen: how many"
    " always-seen dimensions would be as hard to learn if the rarely seen actions pointed in every"
    " direction and the policy kept playing them. Actual regret is usually far smaller and depends"
    " on where the good actions lie: rarely seen good actions stay uncertain, rarely seen bad ones"
    " are soon abandoned."
)


@dataclass(frozen=True)
class Answer:
    """The effect of one censorship on one policy.

    Attributes
    ----------
    place
        The combination it is about.
    regret, whole
        The regret, and that of the same policy where everything is seen, if that was run.
    change
        The difference of the two, paired on the same draws.
    seen
        The share of rounds whose reward was observed.
    horizon, replications
        How long and how often it was played.
    """

    place: Place
    regret: MeanInterval
    whole: MeanInterval | None
    change: MeanInterval | None
    seen: float
    horizon: int
    replications: int

    @property
    def factor(self) -> float | None:
        """How many times larger the regret is; None where there is nothing to divide by."""
        if self.whole is None or self.whole.mean <= 0.0:
            return None
        return self.regret.mean / self.whole.mean

    @property
    def certain(self) -> bool:
        """Whether the regret differs by more than the noise of the replications."""
        return self.change is not None and self.change.excludes_zero

    @property
    def sentence(self) -> str:
        """The answer as one sentence."""
        text = self.clause
        return text[0].upper() + text[1:]

    @property
    def clause(self) -> str:
        """The answer as a clause that can follow "Under this censorship, "."""
        policy = self.place.names[2]
        seeing = f"seeing {percent(self.seen)} of the feedback"
        rounds = counted("round", self.horizon)
        if self.whole is None:
            return (
                f"{seeing}, {policy} loses {self.regret.text} of reward over {rounds}; there is no"
                " run where everything is seen to compare with."
            )
        if self.place.censorship.sees_everything:
            return (
                f"nothing is missing, and {policy} loses {self.regret.text} of reward over"
                f" {rounds}."
            )
        numbers = f"({self.regret.text} instead of {self.whole.text} over {rounds})"
        if self.factor is None:
            if self.regret.mean <= 0.0:
                return f"{seeing} costs {policy} nothing: it has no regret over {rounds}."
            return f"{seeing} makes {policy} lose reward where it otherwise loses none {numbers}."
        if not self.certain:
            return (
                f"{seeing} leaves the regret of {policy} as it was, as far as"
                f" {_times(self.replications)} can tell {numbers}."
            )
        if self.factor < 1.0:
            return (
                f"{seeing} lowers the regret of {policy} to {times(self.factor)} what it was"
                f" {numbers}."
            )
        return f"{seeing} makes the regret of {policy} {times(self.factor)} as large {numbers}."


def assumption(study: Study) -> str:
    """Return the assumption behind the numbers, or where a study deliberately breaks it."""
    broken = [f"“{name}”" for name, c in study.censorships.items() if c.depends_on_reward]
    if broken:
        return NOT_AT_RANDOM.format(which=" and ".join(broken))
    return ASSUMPTION.format(one="action" if study.linear else "arm")


def answers(result: Result, problem: int) -> list[Answer]:
    """Return the effect of each censorship on the study's first policy on one problem."""
    study = result.study
    baseline = baseline_of(study)
    found = []
    for place in places(study, problem):
        first, _, policy = place.position
        if policy > 0 or (place.censorship.sees_everything and len(study.censorships) > 1):
            continue
        whole = change = None
        if baseline is not None:
            complete = (first, baseline, policy)
            whole = final_regret(result, complete)
            change = change_of_regret(result, complete, place.position)
        found.append(
            Answer(
                place,
                final_regret(result, place.position),
                whole,
                change,
                share_seen(result, place.position),
                study.horizon,
                study.replications,
            )
        )
    return found


def headline(result: Result) -> Answer | None:
    """Return the answer with the largest significant factor, else the first."""
    everything = [a for i in range(len(result.study.problems)) for a in answers(result, i)]
    certain = [a for a in everything if a.certain and a.factor is not None]
    if certain:
        return max(certain, key=lambda a: a.factor or 0.0)
    return everything[0] if everything else None


def surprise(answer: Answer) -> str | None:
    """Explain a regret that missing feedback lowered."""
    if not answer.certain or answer.factor is None or answer.factor >= 1.0:
        return None
    place = answer.place
    if place.linear:
        rare = type(place.policy) in bounded_policies(place.problem) and rarely_seen_best(place)
    else:
        best = place.problem.gaps[place.problem.playable] == 0.0
        rare = place.policy.optimistic and place.observe[best].max() < float(np.mean(place.observe))
    if rare:
        one = "action" if place.linear else "arm"
        return (
            f"Lower regret is no error here: the best {one} is rarely seen, so it stays uncertain,"
            " and an optimistic policy keeps playing what is uncertain."
        )
    return "Lower regret is a property of this problem, not a rule to count on."


def imputation(result: Result, problem: int) -> list[str]:
    """Return what imputing a value for missing rewards cost, policy by policy."""
    study = result.study
    names = list(study.policies)
    sentences = []
    for k, policy in enumerate(study.policies.values()):
        if policy.imputed is None:
            continue
        zero = policy.imputed == "0"
        start = f"Imputing {policy.imputed} for a missing reward ({names[k]})"
        honest = policy.without_imputation()
        others = enumerate(study.policies.values())
        base = next((b for b, other in others if other == honest), None)
        if base is None:
            sentences.append(f"{start} cannot be judged: the policy without it was not run.")
            continue
        costs = [
            Cost(
                censorship,
                final_regret(result, (problem, j, k)),
                final_regret(result, (problem, j, base)),
                change_of_regret(result, (problem, j, base), (problem, j, k)),
            )
            for j, censorship in enumerate(study.censorships)
            if not study.censorships[censorship].sees_everything
        ]
        if costs:
            one = "action" if study.linear else "arm"
            sentences.append(_cost_of_imputing(start, names[base], costs, zero, one))
    return sentences


@dataclass(frozen=True)
class Cost:
    """Regret with imputed rewards and without, under one censorship."""

    censorship: str
    made_up: MeanInterval
    honest: MeanInterval
    change: MeanInterval

    @property
    def factor(self) -> float:
        """How many times larger the regret with imputed rewards is."""
        if self.honest.mean > 0.0:
            return self.made_up.mean / self.honest.mean
        return math.inf if self.made_up.mean > 0.0 else 1.0


def _cost_of_imputing(start: str, base: str, costs: list[Cost], zero: bool, one: str) -> str:
    worst, mildest = (pick(costs, key=lambda cost: cost.factor) for pick in (max, min))
    text = (
        f"{start} turned the regret of {base} from {worst.honest.text} into {worst.made_up.text}"
        f" under “{worst.censorship}”"
    )
    if math.isfinite(worst.factor):
        text += f", {times(worst.factor)} as much"
    if mildest is not worst and mildest.factor < 1 and mildest.change.excludes_zero:
        text += (
            f". Under “{mildest.censorship}” it happened to lower it, from {mildest.honest.text} to"
            f" {mildest.made_up.text}: "
        )
        text += (
            f"zeros make rarely seen {one}s look bad, which helps only where they are"
            if zero
            else "overconfidence saves exploration, until it settles on the wrong arm"
        )
    return text + "."


def times(factor: float) -> str:
    """Format a factor with three digits.

    >>> times(5.0), times(12.34), times(0.5458), times(1234.5)
    ('5.00 times', '12.3 times', '0.546 times', '1,234 times')
    """
    return f"{factor:,.0f} times" if factor >= 99.95 else f"{factor:#.3g} times"


def _times(replications: int) -> str:
    return "one replication" if replications == 1 else f"{replications:,} replications"
