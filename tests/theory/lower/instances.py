"""Problems whose constants were computed by other code."""

import numpy as np

from halfseen import ArmedBandit, FiniteActions, LinearBandit, PerAction, PerArm

OPTIMISM = [[1, 0], [0, 1], [0.98, 0.04]]
A3 = [[1, 0, 0], [0.9, 0.3, 0], [0.9, 0, 0.3], [0, 1, 0], [0, 0, 1], [-0.5, 0.6, 0.6]]
G = ArmedBandit([0.5, 0.4, 0.3, 0.2, 0.1], noise=0.5), PerArm([0.3, 0.9, 0.1, 0.5, 0.2])


def waves(count, dimension):
    """Return rows cos((i+1)(j+1)) of length 1."""
    rows = np.cos(np.outer(np.arange(1, count + 1), np.arange(1, dimension + 1)))
    return rows / np.linalg.norm(rows, axis=1)[:, None]


def linear(actions, theta, observe, noise):
    """Return a linear bandit and its censorship; actions longer than 1 are scaled with theta."""
    rows = np.array(actions, dtype=float)
    longest = max(1.0, np.linalg.norm(rows, axis=1).max())
    rows, theta = rows / longest, np.array(theta, dtype=float) * longest
    rows /= 1.0 + 1e-15
    bandit = LinearBandit(theta.tolist(), noise=noise, actions=FiniteActions(rows.tolist()))
    return bandit, PerAction(np.array(observe, dtype=float).tolist())


STRIPES = 0.05 + 0.3 * (np.arange(12) % 4)
THIRDS = np.where(np.arange(20) % 3 == 0, 0.05, 0.8)
HARMONIC = 1.0 / np.arange(1, 9)
WAVE_THETA = (0.5, -0.3, 0.2, 0.4, -0.1)
_FIVE = [[1, 0, 0], [0.95, 0.3, 0], [0.95, 0, 0.3], [0.9, -0.3, 0.2], [0.9, 0.2, -0.3]]
SURVEY = [[*row, 0] for row in _FIVE] + [[*row, 1] for row in _FIVE]
PROBES = [
    *([1, 0, 0], [0.95, 0.1, 0], [0.95, 0, 0.1], [0.95, -0.1, 0.05], [0.9, 0.1, 0.1]),
    *([0.3, 1, 0], [0.3, 0, 1], [0.5, 0.7, 0], [0.5, 0, 0.7], [0.4, 0.6, 0.6]),
]
SEEN = [0.5] * 5 + [0.9, 0.9, 0.02, 0.02, 0.05]
RARE = [0.9] * 5 + [0.02, 0.02, 0.5, 0.5, 0.02]
W20 = waves(20, 8)
THRESHOLD = np.where(W20[:, 0] < 0.1, 0.9, np.where(W20[:, 0] < 0.4, 0.3, 0.05))
# actions, theta, p, sigma, C, C at p = 1, C_ign, plays per log T
LINEAR = {
    "arms": (
        *(np.eye(4), (0.9, 0.8, 0.6, 0.5), (0.9, 0.1, 0.5, 0.3), 1.0),
        *(230.0, 31.6666666667, 230.0, {1: 2000.0, 2: 44.4444444444, 3: 41.6666666667}),
    ),
    "optimism, seen": (OPTIMISM, (1, 0), (1, 1, 1), 1.0, 8.0, 8.0, 8.0, {1: 8.0}),
    "optimism, rare": (OPTIMISM, (1, 0), (1, 0.01, 1), 1.0, 100.0, 8.0, 800.0, {2: 5000.0}),
    "A3, alike": (
        *(A3, (1, 0.2, -0.1), [0.5] * 6, 0.5),
        *(30.8579881657, 15.4289940828, 30.8579881657, {1: 625.0, 4: 5.325443787}),
    ),
    "A3": (
        *(A3, (1, 0.2, -0.1), (0.5, 0.9, 0.8, 0.05, 0.02, 0.3), 0.5),
        *(18.6965811966, 15.4289940828, 160.338593031),
        {1: 347.2222222222, 2: 36.9822485207},
    ),
    "waves": (
        *(waves(12, 5), WAVE_THETA, STRIPES, 1.0, 123.22240758, 93.3752516449, 123.696611106),
        {2: 5.2145697944, 5: 245.2547679551, 7: 2799.7241966, 11: 11.9100645526},
    ),
    "waves of 8": (
        *(W20, HARMONIC, THIRDS, 0.3, 2.83820735663, 2.11178230755, 10.6568922444),
        {5: 10.2011453845, 17: 0.2616151545},
    ),
    "control": (
        *(waves(12, 5), WAVE_THETA, STRIPES, 0.5, 30.8056018951, None, 30.9241527764),
        {},
    ),
    "survey": (
        *(SURVEY, (1, 0.1, -0.1, -0.15), [0.02] * 5 + [0.9] * 5, 0.1),
        *(26.4401991858, None, 70.1481481481, {}),
    ),
    "probes, seen": (PROBES, (1, 0.3, 0.2), SEEN, 0.5, 8.64197530864, None, 13.3276793571, {}),
    "probes, rare": (PROBES, (1, 0.3, 0.2), RARE, 0.5, 22.9591836735, None, 388.39222283, {}),
    "threshold": (W20, HARMONIC, THRESHOLD, 0.5, 72.492686805, None, 72.6032117674, {}),
}
