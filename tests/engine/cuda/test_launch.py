"""What a thread of a GPU works in: slices that numba can compile, which no simulator tells."""

from types import FunctionType

import numpy as np
import pytest
from numba import njit

from halfseen.engine.arguments import ArmWorkspace
from halfseen.engine.cuda import contexts, kernels, late_launch, launch
from halfseen.engine.late_arguments import LateWorkspace

ARMS = {"values": 1, "winners": 1, "state": 2, "arm_state": 2, "plays": 1, "playable": 1}
ENDS = {"potential": 1, "stop": 1}
MESSAGES = {"rewards": 1, "messages": 2, "slots": 2}
FIXED = {"matrices": 3, "vectors": 2, "lists": 2, "numbers": 1, "curvatures": 3, "memory": 1}
DRAWN = {"matrices": 3, "vectors": 2, "numbers": 1, "designs": 3, "lines": 2, "groups": 2}
LATE = MESSAGES | {"sent": 2, "counts": 2, "unsettled": 2, "design": 2}


def compiled(function, **called):
    """Compile the Python of a function of the device, with what it calls, for the CPU."""
    plain = function.py_func
    return njit(FunctionType(plain.__code__, plain.__globals__ | called, plain.__name__))


def arrays(axes):
    """Return an array of so many axes, and one more for the threads."""
    return np.arange(3.0 ** (axes + 1)).reshape((3,) * (axes + 1))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["arms", "late arms", "late fixed", "late contexts"])
def test_a_thread_works_in_its_slice_of_every_array(name):
    late = {"late_workspace": compiled(late_launch.late_workspace)}
    edges = np.arange(4.0)
    build, scratch, axes, given = {
        "arms": (compiled(kernels.arm_workspace), ArmWorkspace, ARMS | ENDS, ()),
        "late arms": (
            compiled(kernels.late_arm_workspace),
            LateWorkspace,
            ARMS | ENDS | MESSAGES | {"queues": 2, "totals": 1, "kept": 2},
            (),
        ),
        "late fixed": (
            compiled(
                late_launch.late_fixed_workspace,
                fixed_workspace=compiled(launch.fixed_workspace),
                **late,
            ),
            late_launch.LateFixedArrays,
            FIXED | ENDS | LATE,
            (),
        ),
        "late contexts": (
            compiled(
                late_launch.late_context_workspace,
                context_workspace=compiled(contexts.context_workspace),
                **late,
            ),
            late_launch.LateEstimateArrays,
            DRAWN | ENDS | LATE,
            (edges,),
        ),
    }[name]
    whole = scratch(**{part: arrays(number) for part, number in axes.items()})
    work = build(whole, 1, *given)
    for part in axes:
        own = work if part in work._fields else work.own
        assert np.array_equal(getattr(own, part), getattr(whole, part)[..., 1]), part
    if given:
        assert np.array_equal(work.own.edges, edges)
