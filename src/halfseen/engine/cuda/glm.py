"""Generalized linear bandits whose actions are the same in every round, on a GPU."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import numpy as np

from halfseen.engine.cells.glm import GLMCell
from halfseen.engine.cuda.compile import on_device
from halfseen.engine.cuda.designs import LATER, write_designs
from halfseen.engine.cuda.launch import THREADS, Launch, Room, far_kernel, sent
from halfseen.engine.cuda.overrides import ridge_in_registers
from halfseen.engine.loops import glm_fixed_set as glm_rounds
from halfseen.engine.specialise import OpenNames, fitted


def launch(cell: GLMCell) -> Launch:
    """Return how to play a cell."""
    _, rows, *fixed, key, checkpoints, alphas, lam, factor = cell.arguments()
    arguments = (rows, *fixed, key, checkpoints.astype(float), alphas, lam, factor)
    given = tuple(sent(part) if isinstance(part, np.ndarray) else part for part in arguments)
    actions, d = rows.shape
    shapes = ((8, d, d), (7, d), (9, actions), (max(len(cell.alphas), 1),))
    room: Room = tuple((shape, np.float64) for shape in shapes)
    kernel = far_glm(cell.policy.kernels(), tuple(cell.open_names.items()), actions, d)
    columns, facts = given[1], given[2]
    return Launch(kernel, THREADS, given, room, finish=partial(write_designs, columns, facts, lam))


@cache
def far_glm(kernels: OpenNames, names: tuple[Any, ...], actions: int, d: int) -> Any:
    """Return the loop of a policy with a link on any fixed set of actions."""
    once = fitted(glm_rounds.play_once, kernels, **dict(names))
    return far_kernel(on_device(once, LATER | ridge_in_registers(d, actions), False))
