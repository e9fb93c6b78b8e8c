"""Statistics do not depend on the batches they are merged from."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from example_studies import small_study

from halfseen.engine.reduce import BINS, Fold, Part, bin_of, blocks


def track(values):
    """Return the track of as many replications with one checkpoint and the given regret."""
    cell = next(small_study().cells())[1]
    blank = replace(cell, checkpoints=np.array([60])).blank(len(values), 3, 0)
    blank.regret[:, 0] = values
    blank.pulls[:, 0, 0] = np.abs(values).astype(int)
    blank.potential[:, 0] = np.abs(values)[:, None]
    return blank


def folded(values, cuts, order=None):
    spans = list(zip([0, *cuts], [*cuts, len(values)], strict=True))
    fold = Fold()
    for place in range(len(spans)) if order is None else order:
        first, last = spans[place]
        fold.add(Part.of(track(values[first:last]), first))
    assert fold.count == len(values)
    return fold.arrays()


def test_means_far_from_zero_keep_their_variance():
    values = 1e9 + np.random.default_rng(1).normal(size=1_000)
    arrays = folded(values, [10, 400, 401])
    exact = [Fraction(value) for value in values]
    mean = sum(exact) / 1_000
    square = sum((value - mean) ** 2 for value in exact)
    assert arrays["regret_mean"][0] == pytest.approx(float(mean), rel=1e-15)
    assert arrays["regret_square"][0] == pytest.approx(float(square), rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("cuts", [[512], [10, 400, 401], list(range(1, 1_500)), [1_024, 1_499]])
def test_no_bit_depends_on_the_batches_or_their_order(cuts):
    rng = np.random.default_rng(2)
    values = rng.normal(size=1_500) * 10.0 ** rng.integers(-3, 4, size=1_500)
    whole = folded(values, [])
    for order in (None, rng.permutation(len(cuts) + 1)):
        found = folded(values, cuts, order)
        assert all(np.array_equal(found[name], whole[name]) for name in whole)


def test_spans_off_the_tree_are_merged_at_the_end():
    values = np.random.default_rng(3).normal(size=20)
    whole, fold = Part.of(track(values)), Fold()
    pieces = [Part.of(track(values[:14])), Part.of(track(values[14:]))]
    for piece, span in zip(pieces, [(0, 14), (14, 20)], strict=True):
        once = Fold()
        once.add(piece)
        arrays = once.arrays()
        moments = {name: a for name, a in arrays.items() if not name.endswith("histogram")}
        fold.add(Part({span: moments}, piece.histograms))
    assert sorted(fold.moments) == [(0, 14), (14, 20)]
    assert fold.arrays()["regret_mean"] == pytest.approx(values.mean(), rel=1e-14)
    assert np.array_equal(fold.histograms["regret"], whole.histograms["regret"])


def test_blocks_cover_a_span_and_start_at_multiples_of_their_size():
    for first, last, most in [(0, 1_000, 64), (5, 6, 64), (1_023, 5_000, 1_024), (3, 3, 8)]:
        found = list(blocks(first, last, most))
        sizes = [b - a for a, b in found]
        assert sum(sizes) == last - first
        assert all(
            a % size == 0 and size <= most for (a, _), size in zip(found, sizes, strict=True)
        )


def test_bins_cover_everything():
    values = np.array([-1.0, 0.0, 1e-7, 1e-6, 1.0, 1e14, 1e15, 1e300])
    bins = bin_of(values)
    assert bins[:3].tolist() == [0, 0, 0]
    assert bins[3] >= 1
    assert np.all(np.diff(bins[3:7]) > 0)
    assert bins[-1] == BINS - 1
