"""Estimators in the style of scikit-learn: pip install 'halfseen[sklearn]'."""

from __future__ import annotations

from typing import Any

import numpy as np

from halfseen.censorship import MultiThreshold
from halfseen.checks import Vector
from halfseen.errors import missing_package
from halfseen.logs.direction import fit_direction

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.utils.multiclass import check_classification_targets, type_of_target
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:
    raise missing_package(__name__, "sklearn", error) from None


class ThresholdCensorship(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Probability of being seen that falls in steps along one direction of the features.

    Parameters
    ----------
    regions
        Number of regions; chosen by BIC if left out.
    most_regions
        Largest number of regions to try.
    resamples
        Number of bootstrap resamples for the intervals; 0 for none.
    random_state
        A seed.

    Attributes
    ----------
    classes_
        The two values of the target; the second is "seen".
    direction_, thresholds_, rates_
        The direction, where the probability steps down, and its values.
    fit_
        Everything, as `halfseen.DirectionFit`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(3000, 2))
    >>> observed = rng.random(3000) < np.where(X[:, 1] > 0, 0.1, 0.8)
    >>> ThresholdCensorship().fit(X, observed).rates_.round(1).tolist()
    [0.8, 0.1]
    """

    def __init__(
        self,
        regions: int | None = None,
        most_regions: int = 8,
        resamples: int = 0,
        random_state: int | None = None,
    ) -> None:
        self.regions = regions
        self.most_regions = most_regions
        self.resamples = resamples
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> ThresholdCensorship:  # noqa: N803
        """Fit the staircase.

        Parameters
        ----------
        X
            Features, one row per decision.
        y
            Whether its reward was seen.
        """
        X, y = validate_data(self, X, y)  # noqa: N806
        check_classification_targets(y)
        kind = type_of_target(y, input_name="y")
        if kind != "binary":
            raise ValueError(
                "Only binary classification is supported. The type of the target is"
                f" {kind}: give true where a reward was seen."
            )
        self.classes_, coded = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError("The target must hold two classes, seen and missing; it has 1 class.")
        self.fit_ = fit_direction(
            X,
            coded,
            regions=self.regions,
            most_regions=self.most_regions,
            resamples=self.resamples,
            seed=0 if self.random_state is None else self.random_state,
        )
        self.direction_ = self.fit_.direction
        self.thresholds_ = self.fit_.thresholds
        self.rates_ = self.fit_.rates
        return self

    def predict_proba(self, X: Any) -> Vector:  # noqa: N803
        """Return the probabilities of being missing and of being seen of each row of `X`."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False)  # noqa: N806
        seen = self.fit_.probabilities(X)
        return np.column_stack([1.0 - seen, seen])

    def predict(self, X: Any) -> Any:  # noqa: N803
        """Return for each row of `X` the class that is more likely."""
        likely = np.argmax(self.predict_proba(X), axis=1)
        return self.classes_[likely]

    @property
    def censorship_(self) -> MultiThreshold:
        """The staircase as a censorship, of features divided by ``fit_.scale``."""
        check_is_fitted(self)
        return self.fit_.censorship

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that there are only two classes."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
