"""The example of a mean that changes with the wait is one that does."""

import numpy as np

from halfseen.logs.waits_differ import _most_changed


def test_the_arm_shown_is_the_one_whose_mean_changes_with_the_wait():
    means = np.array([[0.30, 0.418], [0.45, 0.417], [0.60, 0.414]])
    errors = np.array([[0.01, 0.001], [0.01, 0.01], [0.01, 0.01]])
    assert _most_changed(means, errors) == (0, 0, 2)
    assert _most_changed(means[:, 1:], errors[:, 1:] + 0.01) is None
