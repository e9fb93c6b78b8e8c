"""THE loop: it plays rounds, keeps the state, and writes the track at the checkpoints.

The names ``index``, ``learn``, ``width``, ``fill`` and the constants in capitals are filled in
with a policy's own by `halfseen.engine.specialise`; the rest is the same for every policy.

Of each arm the loop knows in advance its next observed reward and how many more pulls it takes
to see it. Waits are geometric, so this is the same law as flipping a coin at every pull, and it
makes a policy that changes its mind only on observations cost nothing between them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from halfseen.checks import Vector
from halfseen.draws import AVAILABILITY, ENVIRONMENT, POLICY
from halfseen.engine.feedback import (
    FIXED,
    HALF_RATE,
    MEAN,
    PATIENCE,
    discount,
    feedback,
    open_menu,
)
from halfseen.engine.tournament import build, climb, inner_nodes
from halfseen.kernels.compile_hints import inline

if TYPE_CHECKING:
    from halfseen.policies.impute import zero as fill
    from halfseen.policies.policy import count_and_sum as learn
    from halfseen.policies.ucb import index, width

WAITS = False  # an index changes only when its arm's state does
JUMPS = False  # WAITS, and every round offers the same arms
FILLS = False  # missing rewards are replaced by `fill`
HAS_WIDTH = False
STATISTICS = 2
PULLS, SEEN, WAIT, REWARD = range(4)  # columns of the book the loop keeps per arm


def play(
    first: int,
    last: int,
    horizon: int,
    facts: Vector,
    law: int,
    actions: int,
    menu: NDArray[Any],
    chances: Vector,
    table: Vector,
    key: tuple[int, int],
    checkpoints: NDArray[Any],
    alphas: Vector,
    regularization: float,
    regret: Vector,
    pulls: NDArray[Any],
    observations: NDArray[Any],
    potential: Vector,
    optimism_failed: NDArray[Any],
    censoring_failed: NDArray[Any],
) -> None:
    """Play replications `first` to `last` (excluded) and write their tracks, row by row."""
    arms = facts.shape[0]
    leaves = inner_nodes(arms)
    values = np.full(4 * leaves + 1 if leaves else 1, -np.inf)
    winners = np.zeros(values.size, np.uint32)
    state = np.zeros((arms, STATISTICS))
    book = np.zeros((arms, 4))
    playable = np.zeros(arms, np.uint8)
    spent = np.zeros(alphas.size)
    stops = checkpoints.astype(np.float64)

    for replication in range(first, last):
        play_once(
            replication,
            replication - first,
            facts,
            law,
            actions,
            menu,
            chances,
            table,
            key,
            stops,
            alphas,
            regularization,
            values,
            winners,
            state,
            book,
            playable,
            spent,
            regret,
            pulls,
            observations,
            potential,
            optimism_failed,
            censoring_failed,
        )


@inline
def play_once(
    replication: int,
    row: int,
    facts: Vector,
    law: int,
    actions: int,
    menu: NDArray[Any],
    chances: Vector,
    table: Vector,
    key: tuple[int, int],
    stops: Vector,
    alphas: Vector,
    regularization: float,
    values: Vector,
    winners: NDArray[Any],
    state: Vector,
    book: Vector,
    playable: NDArray[Any],
    spent: Vector,
    regret: Vector,
    pulls: NDArray[Any],
    observations: NDArray[Any],
    potential: Vector,
    optimism_failed: NDArray[Any],
    censoring_failed: NDArray[Any],
) -> None:
    """Play one replication in the room given."""
    arms = facts.shape[0]
    leaves = inner_nodes(arms)
    horizon = stops[stops.size - 1]
    world = (key[0], key[1], replication, ENVIRONMENT)
    doors = (key[0], key[1], replication, AVAILABILITY)
    mind = (key[0], key[1], replication, POLICY)
    for arm in range(arms):
        for k in range(STATISTICS):
            state[arm, k] = 0.0
        reward, wait = feedback(facts, arm, 0, law, world)
        book[arm, PULLS] = 0.0
        book[arm, SEEN] = 0.0
        book[arm, WAIT] = wait
        book[arm, REWARD] = reward
    open_menu(menu, chances, actions, 1, doors, playable)
    best = -np.inf
    for arm in range(arms):
        winners[leaves + arm] = arm
        values[leaves + arm] = -np.inf
        if playable[arm] == 1 and facts[arm, MEAN] > best:
            best = facts[arm, MEAN]
        if WAITS and (playable[arm] == 1 or actions != FIXED):
            values[leaves + arm] = index(state, arm, 1, mind, table)
    for k in range(alphas.size):
        spent[k] = 0.0
    lost = 0.0
    optimism = 0
    censoring = 0
    clock = 0.0
    checkpoint = 0
    chosen = build(values, winners, leaves)

    while clock < horizon:
        if not JUMPS:
            if actions != FIXED:
                open_menu(menu, chances, actions, int(clock) + 1, doors, playable)
                best = -np.inf
                for arm in range(arms):
                    if playable[arm] == 1 and facts[arm, MEAN] > best:
                        best = facts[arm, MEAN]
            top = -np.inf
            chosen = -1
            for arm in range(arms):
                if playable[arm] == 1:
                    if WAITS:
                        value = values[leaves + arm]
                    else:
                        value = index(state, arm, int(clock) + 1, mind, table)
                    if value > top or chosen < 0:
                        top = value
                        chosen = arm

        span = book[chosen, WAIT] if JUMPS else 1.0
        stop = stops[checkpoint]
        if clock + span > stop:
            span = stop - clock
        clock += span
        arm = chosen
        seen = book[arm, SEEN]
        weight = 1.0 / (seen + regularization)
        for k in range(alphas.size):
            spent[k] += span * discount(weight, alphas[k])
        lost += span * (best - facts[arm, MEAN])
        pulled = book[arm, PULLS] + span
        book[arm, PULLS] = pulled
        wait = book[arm, WAIT] - span
        book[arm, WAIT] = wait
        observed = wait == 0.0

        if pulled >= facts[arm, PATIENCE]:
            before = pulled - 1.0 if observed else pulled
            if before >= facts[arm, PATIENCE] and seen < facts[arm, HALF_RATE] * before:
                censoring = 1
            if observed and seen + 1.0 < facts[arm, HALF_RATE] * pulled:
                censoring = 1
        if observed:
            seen += 1.0
            book[arm, SEEN] = seen
            learn(state, arm, book[arm, REWARD], table)
        elif FILLS:
            guess = fill(state, arm, table)
            if guess == guess:
                learn(state, arm, guess, table)
        if (observed or FILLS) and (WAITS or HAS_WIDTH):
            value = index(state, arm, int(clock), mind, table)
            if HAS_WIDTH:
                below = value - 2.0 * width(state, arm, int(clock), table)
                if facts[arm, MEAN] > value or facts[arm, MEAN] < below:
                    optimism = 1
            if JUMPS:
                chosen = climb(values, winners, leaves, arm, value)
            elif WAITS:
                values[leaves + arm] = value
        if observed:
            book[arm, REWARD], book[arm, WAIT] = feedback(facts, arm, int(seen), law, world)

        if clock == stop:
            regret[row, checkpoint] = lost
            optimism_failed[row, checkpoint] = optimism if HAS_WIDTH else -1
            censoring_failed[row, checkpoint] = censoring
            for k in range(alphas.size):
                potential[row, checkpoint, k] = spent[k]
            for arm in range(arms):
                pulls[row, checkpoint, arm] = int(book[arm, PULLS])
                observations[row, checkpoint, arm] = int(book[arm, SEEN])
            checkpoint += 1
