"""Generalized linear bandits whose actions are the same in every round, on a GPU."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

from halfseen.engine.arguments import FixedWorkspace
from halfseen.engine.cells.glm import GLMCell
from halfseen.engine.cuda.compile import on_device
from halfseen.engine.cuda.designs import LATER, write_designs
from halfseen.engine.cuda.launch import THREADS, Launch, far_kernel, fixed_workspace, sent_world
from halfseen.engine.cuda.overrides import ridge_in_registers
from halfseen.engine.loops import fixed_set
from halfseen.engine.specialise import OpenNames, fitted


def launch(cell: GLMCell) -> Launch:
    """Return how to play a cell."""
    world = sent_world(cell.world())
    names = tuple(cell.open_names.items())
    kernel = far_glm(cell.policy.kernels(), names, cell.groups, cell.problem.dimension)
    finish = partial(write_designs, world)
    return Launch(kernel, THREADS, world, cell.shapes(), FixedWorkspace, finish=finish)


@cache
def far_glm(kernels: OpenNames, names: tuple[Any, ...], actions: int, d: int) -> Any:
    """Return the loop of a policy with a link on any fixed set of actions."""
    once = fitted(fixed_set.play_once, kernels, **dict(names), POLLS=False)
    exchange = LATER | ridge_in_registers(d, actions)
    return far_kernel(on_device(once, exchange, False), fixed_workspace)
