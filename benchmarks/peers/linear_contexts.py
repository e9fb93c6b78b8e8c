"""What every LinUCB driver plays: 20 actions and contexts of 10 features, ready before the clock.

Libraries with one ridge regression per arm and one context for all of them ("disjoint") get
`SHARED`; those that take a vector per action get `OWN`. Either way a round is 20 means and widths
of 10 features and one update.
"""

import numpy as np

COUNT, DIMENSION, ROUNDS = 20, 10, 20_000
_rng = np.random.default_rng(1)


def _unit(*shape):
    rows = _rng.normal(size=(*shape, DIMENSION))
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


_noise = 0.1 * _rng.normal(size=(ROUNDS, COUNT))
SHARED, OWN = _unit(ROUNDS), _unit(ROUNDS, COUNT)
SHARED_REWARDS = (SHARED @ _unit(COUNT).T + _noise).tolist()
OWN_REWARDS = (OWN @ _unit() + _noise).tolist()


def loop(make, contexts, rewards):
    """Turn a live policy into a way to play; `make()` returns a fresh (choose, observe) pair."""

    def play(rounds):
        choose, observe = make()
        total = 0.0
        for x, table in zip(contexts[:rounds], rewards[:rounds], strict=True):
            arm = choose(x)
            observe(x, arm, table[arm])
            total += table[arm]
        return total / rounds

    return play
