"""A round drawn at once: the numbers of the actions drawn one by one, to the last bit."""

import numpy as np
import pytest

from halfseen.draws import AVAILABILITY, BOX_END, BOX_STEP, BOXES, NORMAL_EDGE, normal_from, unit
from halfseen.engine.specialise import compiled
from halfseen.policies import LinUCB
from halfseen.problems.action_sets import fill_normals
from halfseen.problems.round_draws import BLOCK, LANES, draw_round, round_places, scale_columns

STREAM = (7, 11, 3, AVAILABILITY)


def one_by_one(clock, count, dimension):
    rows = np.empty((count, dimension))
    squares = [fill_normals(STREAM, clock, k, rows[k]) for k in range(count)]
    return rows, squares


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize(
    ("count", "dimension"),
    [(20, 10), (1, 1), (3, 5), (7, 4), (60, 41), (BLOCK + 1, 4)],  # the last two take many blocks
)
def test_a_round_is_its_actions(count, dimension, fast):
    draw = compiled(draw_round, LinUCB().kernels()) if fast else draw_round
    places = round_places(count, dimension)
    bits, normals = np.zeros((3, places.size), np.int64), np.zeros((2, places.size))
    columns, squares = np.full((dimension, count), np.nan), np.full(count, np.nan)
    for clock in (1, 2, 2**40):
        draw(STREAM, clock, places, bits, normals, columns, squares)
        rows, sums = one_by_one(clock, count, dimension)
        np.testing.assert_array_equal(columns.T, rows)
        np.testing.assert_array_equal(squares, sums)


@pytest.mark.parametrize(("count", "dimension"), [(1, 1), (20, 10), (3, 4_000), (4_000, 3)])
def test_blocks_hold_whole_vectors_and_stay_small(count, dimension):
    size = round_places(count, dimension).size
    assert size % LANES == 0
    assert count <= size < max(count, BLOCK) + LANES


def test_a_column_without_direction_is_the_first_axis():
    columns = np.array([[3.0, 0.0], [4.0, 0.0]])
    scale_columns(columns, np.array([0.2, 0.0]))
    np.testing.assert_allclose(columns, [[0.6, 1.0], [0.8, 0.0]])


def test_a_mantissa_is_stretched_where_a_normal_number_takes_one_draw():
    assert BOX_END.shape == BOX_STEP.shape == (BOXES + 1,)
    for box in range(BOXES + 1):
        end, layer = int(BOX_END[box]), box & 255
        for number in {0, end // 3, max(end - 1, 0), end, end + 1}:
            high, low = number >> 32 << 11 | box, number & 0xFFFFFFFF
            inside = unit(high, low) * NORMAL_EDGE[layer] < NORMAL_EDGE[layer + 1]
            assert inside == (number < end), (box, number)
            if inside:
                assert normal_from(high, low, STREAM, 1, 0) == number * BOX_STEP[box]
    # of a first draw 1.5% is outside the boxes of 256 layers
    assert 1.0 - BOX_END.mean() / 2.0**53 == pytest.approx(0.0149, abs=1e-4)
