"""The log of twelve decisions whose values were computed by hand and by other code."""

import numpy as np

from halfseen.values.influence import Sample, Weighting

X = np.array([0, 0, 0, 1, 1, 1, 0, 0, 1, 1, 0, 1])
ARM = np.array([0, 1, 2, 0, 1, 2, 0, 1, 2, 1, 0, 2])
REWARD = np.array([1, 0, np.nan, 0, np.nan, 1, np.nan, 0.5, 0.25, 1, 0, np.nan])
COMPLETE = np.array([1, 0, 0.5, 0, 1, 1, 0, 0.5, 0.25, 1, 0, 0.75])
LOGGING = np.array([[0.5, 0.3, 0.2], [0.2, 0.4, 0.4]])
TARGET = np.array([[0.1, 0.2, 0.7], [0.3, 0.6, 0.1]])
SECOND = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
Q = np.array([[0.5, 0.3, 0.4], [0.2, 0.7, 0.6]])
SEEN = np.array([[0.8, 0.75, 0.5], [0.9, 0.6, 0.7]])
EXACT = 6e-13  # the goldens have twelve digits


def sample(reward=REWARD):
    seen = ~np.isnan(reward)
    return Sample(np.ones(len(reward)), seen, np.where(seen, reward, 0.0), np.zeros(len(reward)))


def weighting(target=TARGET, p=SEEN):
    w = target[X, ARM] / LOGGING[X, ARM]
    p = np.broadcast_to(p, Q.shape)[X, ARM]
    return Weighting(w / p, Q[X, ARM], (target * Q).sum(axis=1)[X])
