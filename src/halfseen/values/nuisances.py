"""What a value needs besides rewards: propensities, probabilities of being seen, a regression."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfseen import checks
from halfseen.checks import Vector
from halfseen.equality import ByValue
from halfseen.errors import InvalidInput
from halfseen.tables import listed
from halfseen.values.log_groups import LogGroups, name_of

CUT = 0.01  # smallest estimated probability of being seen
FOLDS = 5
OBSERVE = ("cells", "arms", "logistic", "trees")
OUTCOME = ("cells", "arms", "linear", "trees")
ROUNDING = 1e-14  # the spread of a column of equal numbers up to 1
FEW_ROWS = 20_000  # up to which a regression takes one thread: more wait for each other
LEAST_ROWS = 10  # of an arm in a fold, to fit a regression rather than a mean


@dataclass(frozen=True, eq=False)
class Nuisances(ByValue):
    """Fitted to a log.

    Attributes
    ----------
    propensity
        Of each group's arm.
    observe
        The probability that each group's reward is seen.
    outcome
        Expected reward of every arm, at each place of the log.
    cut
        Whether each group's estimated probability of being seen was raised to 0.01.
    """

    propensity: Vector
    observe: Vector
    outcome: Vector
    cut: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class NuisanceModel(ByValue):
    """How to fit them.

    Attributes
    ----------
    observe
        One of `OBSERVE`; unused if it is known.
    outcome
        One of `OUTCOME`.
    known
        Known probabilities of being seen, per group; None to estimate them.
    by_time
        Whether folds are blocks of time, rather than rows at random.
    """

    observe: str
    outcome: str
    known: Vector | None = None
    by_time: bool = False

    @property
    def refits(self) -> bool:
        """Whether fitting is cheap enough for every bootstrap resample."""
        cheap = ("cells", "arms")
        return self.outcome in cheap and (self.known is not None or self.observe in cheap)

    def fit(self, log: LogGroups, count: Vector | None = None) -> Nuisances:
        """Fit to a log, or to a resample of it given by other counts."""
        count = log.sample.count if count is None else count
        seen = np.where(log.sample.seen, count, 0.0)
        rows_in, seen_in = log.by_cell(count), log.by_cell(seen)
        propensity = log.propensity
        if propensity is None:
            propensity = _share(rows_in, rows_in.sum(axis=1, keepdims=True))[log.context, log.arm]
        if self.known is not None:
            p = self.known
        elif self.observe == "cells":
            of_arms = _share(seen_in.sum(axis=0), rows_in.sum(axis=0))
            rates = np.where(seen_in > 0.0, _share(seen_in, rows_in), of_arms)
            p = rates[log.context, log.arm]
        elif self.observe == "arms":
            p = _share(seen_in.sum(axis=0), rows_in.sum(axis=0))[log.arm]
        else:
            p = observation_by_features(log, self.observe, self.by_time)
        low = p < CUT if self.known is None else np.zeros(len(p), dtype=bool)
        q = self._outcome(log, seen, seen_in)
        return Nuisances(propensity, np.where(low, CUT, p), q, low)

    def _outcome(self, log: LogGroups, seen: Vector, seen_in: Vector) -> Vector:
        if self.outcome in ("linear", "trees"):
            return outcome_by_features(log, self.outcome, self.by_time)
        total = log.by_cell(seen * log.sample.reward)
        per_arm = _share(total.sum(axis=0), seen_in.sum(axis=0))
        if self.outcome == "arms":
            table = np.tile(per_arm, (len(log.contexts), 1))
        else:
            table = np.where(seen_in > 0.0, _share(total, seen_in), per_arm)
        return np.asarray(table[log.context] if log.by_row else table)


def _share(part: Vector, whole: Vector) -> Vector:
    return np.asarray(part / np.where(whole > 0.0, whole, 1.0))


def known_rates(log: LogGroups, given: Mapping[Any, float]) -> Vector:
    """Return known probabilities of being seen by arm, for each group."""
    observe = {name_of(arm, log.arms): p for arm, p in given.items()}
    lacking = [name for name in log.arms if name not in observe]
    strange = sorted(map(str, set(observe) - set(log.arms)))
    if lacking or strange:
        raise InvalidInput(
            "observe",
            f"must name the arms of the log ({listed(list(log.arms))})",
            listed(list(map(str, observe))),
            f"Add {listed(lacking)}." if lacking else f"Leave out {listed(strange)}.",
        )
    rates = [checks.observation_probability(f"observe[{a}]", observe[a]) for a in log.arms]
    return np.array(rates)[log.arm]


def known_column(log: LogGroups, column: str) -> Vector:
    """Return known probabilities of being seen from a column, for each group."""
    p = log.extra[column]
    wrong = ~((p >= checks.SMALLEST_OBSERVE) & (p <= 1.0)) & log.sample.seen
    if wrong.any():
        raise InvalidInput(
            "observe_column",
            "must be above 0 and at most 1 wherever a reward was seen",
            f"{int(log.sample.count[wrong].sum()):,} other cells in column {column}",
            "Fill them in, or leave those rows out.",
        )
    return np.where(np.isfinite(p) & (p > 0.0), p, 1.0)


def observation_by_features(log: LogGroups, kind: str, by_time: bool) -> Vector:
    """Return cross-fitted probabilities of being seen: a regression per arm on the features."""
    design, seen = _design(log), log.sample.seen
    p = np.empty(len(seen))
    for fold in _folds(log, by_time):
        for arm in range(len(log.arms)):
            inside = log.arm == arm
            train, test = inside & ~fold, inside & fold
            both = seen[train]
            if len(both) < LEAST_ROWS or both.all() or not both.any():
                p[test] = both.mean() if len(both) else seen[inside].mean()
            elif test.any():
                p[test] = _predicted(f"classify {kind}", design[train], both, design[test])
    return p


def outcome_by_features(log: LogGroups, kind: str, by_time: bool) -> Vector:
    """Return cross-fitted expected rewards of every arm: a regression per arm on seen rows."""
    design, sample = _design(log), log.sample
    q = np.empty((len(log.arm), len(log.arms)))
    for fold in _folds(log, by_time):
        for arm in range(len(log.arms)):
            inside = (log.arm == arm) & sample.seen
            train = inside & ~fold
            rewards = sample.reward[train if train.any() else inside]
            if train.sum() < max(LEAST_ROWS, design.shape[1] + 2):
                q[fold, arm] = rewards.mean() if len(rewards) else 0.0
            else:
                q[fold, arm] = _predicted(f"regress {kind}", design[train], rewards, design[fold])
    return q


def mean_excess(
    log: LogGroups, model: NuisanceModel, base: Vector, scale: Vector, places: Vector
) -> Vector:
    """Return what the rewards of each decision's arm exceed some places by, on average.

    Parameters
    ----------
    log
        The decisions.
    model
        How expected rewards are found; so is this.
    base, scale
        Places are base + scale place; answers are in units of the scale.
    places
        One column of the answer each.
    """
    kind, seen = model.outcome, log.sample.seen
    rest = (np.where(seen, log.sample.reward, 0.0) - base) / scale
    excess = np.maximum(rest[:, None] - places, 0.0)
    if not len(places):
        return excess
    found = _means_by(log.arm, seen, excess)
    if kind == "cells":
        inside = np.isin(log.cell, log.cell[seen])
        return np.where(inside[:, None], _means_by(log.cell, seen, excess), found)
    if kind == "arms":
        return found
    design = _design(log)
    for fold in _folds(log, model.by_time):
        for arm in range(len(log.arms)):
            inside = log.arm == arm
            train, test = inside & seen & ~fold, inside & fold
            if train.sum() < max(LEAST_ROWS, design.shape[1] + 2) or not test.any():
                continue
            if kind == "linear":
                told = _predicted("regress linear", design[train], excess[train], design[test])
            else:  # one regression on the features and the place
                known, asked = (_paired(design[rows], places) for rows in (train, test))
                told = _predicted("regress trees", known, excess[train].ravel(), asked)
            found[test] = np.reshape(told, (-1, len(places)))
    return found


def _means_by(unit: NDArray[np.int64], seen: NDArray[np.bool_], answers: Vector) -> Vector:
    """Return the means of the seen answers of each unit, at each of its decisions."""
    number = np.maximum(np.bincount(unit, seen), 1.0)
    sums = [np.bincount(unit, np.where(seen, column, 0.0)) / number for column in answers.T]
    return np.stack(sums, axis=1)[unit]


def _paired(design: Vector, places: Vector) -> Vector:
    """Return every row with every place."""
    rows = np.repeat(design, len(places), axis=0)
    return np.column_stack([rows, np.tile(places, len(design))])


def _design(log: LogGroups) -> Vector:
    """Return the features, and an indicator for each context but the first, all standardised.

    Least squares would take a column of small numbers beside one of large ones for rounding.
    """
    dummies = np.arange(1, len(log.contexts)) == log.context[:, None]
    columns = np.column_stack([log.features, dummies.astype(float)])
    largest = np.abs(columns).max(axis=0, initial=0.0)
    columns = columns / np.where(largest > 0.0, largest, 1.0)  # squares of 1e200 are no numbers
    columns -= columns.mean(axis=0)
    spread = columns.std(axis=0)
    return np.asarray(columns / np.where(spread > ROUNDING, spread, 1.0))


def _folds(log: LogGroups, by_time: bool) -> list[NDArray[np.bool_]]:
    """Return blocks of time if every arm was played in two of them, else rows by a hash.

    Rows in turn would put an arm into one fold where arms take turns.
    """
    place = np.arange(len(log.arm), dtype=np.uint64)
    blocks = (place * np.uint64(FOLDS) // np.uint64(max(len(place), 1))).astype(np.int64)
    pairs = np.unique(log.arm * FOLDS + blocks) // FOLDS
    if by_time and np.bincount(pairs, minlength=len(log.arms)).min() > 1:
        number = blocks
    else:
        number = (_hashed(place) % np.uint64(FOLDS)).astype(np.int64)
    return [number == fold for fold in range(FOLDS)]


def _hashed(number: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Mix whole numbers as the generator splitmix64 does; products wrap around."""
    mixed = number * np.uint64(0x9E3779B97F4A7C15) + np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))


def _predicted(kind: str, known: Vector, answers: Vector, asked: Vector) -> Vector:
    """Fit a regression and return what it says of other rows."""
    model = _model(kind)
    from threadpoolctl import threadpool_limits  # comes with scikit-learn

    with threadpool_limits(1 if len(known) < FEW_ROWS else None):
        model.fit(known, answers)
        found = model.predict_proba(asked)[:, 1] if "classify" in kind else model.predict(asked)
    return np.asarray(found)


def _model(kind: str) -> Any:
    try:
        from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
        from sklearn.linear_model import LinearRegression, LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler
    except ImportError:
        raise InvalidInput(
            "observe and outcome",
            "by features need scikit-learn",
            kind.split()[1],
            "Run: pip install 'halfseen[sklearn]', or use cells.",
        )
    makers: dict[str, Any] = {
        "classify logistic": lambda: make_pipeline(
            StandardScaler(), LogisticRegression(C=1e4, max_iter=1000)
        ),
        "classify trees": lambda: HistGradientBoostingClassifier(random_state=0),
        "regress linear": LinearRegression,
        "regress trees": lambda: HistGradientBoostingRegressor(random_state=0),
    }
    return makers[kind]()
