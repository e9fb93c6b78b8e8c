"""What does not depend on the policy is lowered once and taken from disk by the next process."""

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

from halfseen.engine.code_cache import FORMAT
from halfseen.problems.action_sets import draw_action, fill_normals

STREAM = (11, 12, 3, 1)
SCRIPT = """
import sys
import numpy as np
import pytest
from numba.core.compiler import CompilerBase
from halfseen.engine.specialise import compiled
from halfseen.problems import action_sets

class Kernels:
    def names(self):
        return {}

lowered, before = [], CompilerBase._compile_core
def noted(self):
    lowered.append(self.state.func_id.func_name)
    return before(self)
CompilerBase._compile_core = noted
row = np.zeros(5)
compiled(getattr(action_sets, sys.argv[1]), Kernels())((11, 12, 3, 1), 7, 2, row)
print(row.tobytes().hex(), *sorted(lowered))
"""


def lowered(cache, name):
    """Return the functions that a new process lowers to draw an action, and the action."""
    ended = subprocess.run(
        [sys.executable, "-c", SCRIPT, name],
        env=os.environ | {"HALFSEEN_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        check=True,
    )
    drawn, *names = ended.stdout.split()
    return names, np.frombuffer(bytes.fromhex(drawn))


def contents(path):
    return pickle.loads(path.read_bytes()[len(FORMAT) + 32 :])


def drawn(function):
    row = np.zeros(5)
    function(STREAM, 7, 2, row)
    return row


@pytest.mark.slow
def test_a_new_process_lowers_no_function_again_that_another_loop_was_compiled_with(tmp_path):
    first, row = lowered(tmp_path, "fill_normals")
    assert {"fill_normals", "words", "philox", "normal_from"} <= set(first)
    assert row.tobytes() == drawn(fill_normals).tobytes()

    second, row = lowered(tmp_path, "draw_action")
    assert "draw_action" in second
    assert not {"words", "philox", "normal_from"} & set(second)
    assert row.tobytes() == drawn(draw_action).tobytes()


@pytest.mark.slow
def test_a_function_whose_callee_is_gone_from_disk_is_lowered_again(tmp_path):
    lowered(tmp_path, "fill_normals")
    (gone,) = (
        path for path in tmp_path.iterdir() if getattr(contents(path)[2], "name", "") == "philox"
    )
    gone.unlink()
    names, row = lowered(tmp_path, "draw_action")
    assert {"draw_action", "words", "philox"} <= set(names)
    assert row.tobytes() == drawn(draw_action).tobytes()
