"""A tournament tree over the arms, which updates the largest index in O(log arms).

A tree with four children per node: node 0 is the root, node k has children 4k+1 to 4k+4, and arm a
sits at node ``leaves + a``. Among equal indices the lowest arm wins. Winners are unsigned, which
tells the compiler that no arm is negative.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfseen.checks import Vector


def inner_nodes(arms: int) -> int:
    """Return the number of inner nodes of a tree with a leaf for every arm."""
    leaves = 1
    nodes = 0
    while leaves < arms:
        nodes += leaves
        leaves *= 4
    return nodes


def build(values: Vector, winners: NDArray[Any], leaves: int) -> int:
    """Compute the winner of every node from the leaves up and return the winning arm."""
    for node in range(leaves - 1, -1, -1):
        best = 4 * node + 1
        for child in range(best + 1, best + 4):
            if values[child] > values[best]:
                best = child
        values[node] = values[best]
        winners[node] = winners[best]
    return int(np.int64(winners[0]))


def climb(values: Vector, winners: NDArray[Any], leaves: int, arm: int, value: float) -> int:
    """Set the value of one arm, update its path to the root and return the winning arm.

    The best rival at each level does not depend on the new value, so only one comparison per level
    depends on it.
    """
    node = leaves + arm
    values[node] = value
    winner = arm
    while node > 0:
        parent = (node - 1) >> 2
        first = 4 * parent + 1
        a = -math.inf if node == first else values[first]
        b = -math.inf if node == first + 1 else values[first + 1]
        c = -math.inf if node == first + 2 else values[first + 2]
        d = -math.inf if node == first + 3 else values[first + 3]
        low = first if a >= b else first + 1
        high = first + 2 if c >= d else first + 3
        low_value = a if a >= b else b
        high_value = c if c >= d else d
        rival = low if low_value >= high_value else high
        rival_value = low_value if low_value >= high_value else high_value
        if rival_value > value or (rival_value == value and rival < node):
            value = rival_value
            winner = int(np.int64(winners[rival]))
        node = parent
        values[node] = value
        winners[node] = winner
    return winner
