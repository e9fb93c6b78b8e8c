"""scikit-learn's own checks, and the fit through its interface."""

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import estimator_checks_generator

from halfseen.integrations.sklearn import ThresholdCensorship

CHECKS = list(estimator_checks_generator(ThresholdCensorship()))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("estimator", "check"), CHECKS, ids=[getattr(c, "func", c).__name__ for _, c in CHECKS]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_probabilities_and_censorship():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(3000, 3))
    seen = rng.random(3000) < np.where(rows @ [0.6, 0.8, 0.0] > 0.4, 0.2, 0.7)
    model = ThresholdCensorship(resamples=10, random_state=1).fit(rows, seen)
    assert sorted(set(model.predict_proba(rows)[:, 1].round(1))) == [0.2, 0.7]
    censorship = model.censorship_
    scaled = rows / model.fit_.scale
    assert censorship.probabilities(scaled) == pytest.approx(model.predict_proba(rows)[:, 1])
    assert model.fit_.intervals.angle_degrees < 5
    assert cross_val_score(ThresholdCensorship(), rows, seen, scoring="roc_auc").mean() > 0.7
