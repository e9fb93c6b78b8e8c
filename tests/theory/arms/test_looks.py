"""Several looks against exact fractions, stored values and a recursion over fractions."""

import itertools
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from halfseen import InvalidInput
from halfseen.theory import (
    adaptive_potential,
    freely_monitored_potential,
    monitored_potential,
    offline_potential,
)

TWO, THREE = (0.5, 0.25), (0.5, 0.25, 0.8)


def best(observe, horizon, looks, alpha=1.0):
    return monitored_potential(observe, horizon, alpha, 1.0, looks).value


def by_fractions(observe, horizon, looks):
    """Return the exact value at alpha = lambda = 1, by recursion over all plans and outcomes."""
    p = [Fraction(chance).limit_denominator(100) for chance in observe]
    times = [*sorted(set(looks) - {0, horizon}), horizon]

    def binomial(n, q):
        law = [Fraction(1)]
        for _ in range(n):
            law = [
                (law[k] * (1 - q) if k < len(law) else 0) + (law[k - 1] * q if k else 0)
                for k in range(len(law) + 1)
            ]
        return law

    @cache
    def worth(count, plays, arm):
        return sum(
            chance / (count + k + 1)
            for j in range(plays)
            for k, chance in enumerate(binomial(j, p[arm]))
        )

    @cache
    def value(time, counts, rest):
        if not rest:
            return Fraction(0)
        length, found = rest[0] - time, None
        for cut in itertools.product(range(length + 1), repeat=len(p) - 1):
            if sum(cut) > length:
                continue
            plan = (*cut, length - sum(cut))
            total = sum(worth(counts[a], plan[a], a) for a in range(len(p)))
            laws = [enumerate(binomial(m, q)) for m, q in zip(plan, p, strict=True)]
            for outcome in itertools.product(*map(list, laws)):
                chance = Fraction(1)
                for _, part in outcome:
                    chance *= part
                seen = tuple(c + k for c, (k, _) in zip(counts, outcome, strict=True))
                total += chance * value(rest[0], seen, rest[1:])
            found = total if found is None else max(found, total)
        return found

    return value(0, (0,) * len(p), tuple(times))


def test_neither_concave_nor_submodular_at_four_rounds():
    even, gains = (0.5, 0.5), {}
    assert by_fractions(even, 4, ()) == Fraction(7, 2)
    for looks in ((1,), (2,), (3,), (1, 3)):
        gains[looks] = by_fractions(even, 4, looks) - Fraction(7, 2)
        assert best(even, 4, looks) - 3.5 == pytest.approx(float(gains[looks]), abs=1e-12)
    assert list(gains.values()) == [
        Fraction(1, 24),
        Fraction(1, 8),
        Fraction(1, 16),
        Fraction(1, 8),
    ]
    assert gains[2,] - 2 * gains[1,] == Fraction(1, 24)  # a positive second difference
    assert gains[1, 3] > gains[1,] + gains[3,]


@pytest.mark.parametrize(
    ("horizon", "offline", "gains", "everything"),
    [
        (5, "223/48", {1: "11/96", 2: "157/960", 3: "109/600", 4: "17/120"}, "109/600"),
        (
            6,
            "259/48",
            {1: "47/512", 2: "323/1920", 3: "329/1600", 4: "1031/4800", 5: "43/320"},
            "5647/24000",
        ),
    ],
)
def test_three_arms_golden_fractions(horizon, offline, gains, everything):
    start = Fraction(offline)
    assert best(THREE, horizon, []) == pytest.approx(float(start), rel=1e-12)
    for look, gain in gains.items():
        value = float(start + Fraction(gain))
        assert best(THREE, horizon, [look]) == pytest.approx(value, rel=1e-12)
    whole = float(start + Fraction(everything))
    assert best(THREE, horizon, range(horizon)) == pytest.approx(whole, rel=1e-12)
    if horizon == 6:
        value = float(start + Fraction(139, 600))
        assert best(THREE, 6, [2, 5]) == pytest.approx(value, rel=1e-12)


def test_fractions_by_recursion_agree():
    for observe, horizon, looks in (
        (THREE, 4, (1, 3)),
        (THREE, 5, (2,)),
        (TWO, 6, (2, 5)),
        ((0.5, 0.5), 5, (1, 2, 4)),
    ):
        exact = float(by_fractions(observe, horizon, looks))
        assert best(observe, horizon, looks) == pytest.approx(exact, rel=1e-12)


GOLDEN = [
    (THREE, 20, (18,), 12.262607148792),
    (THREE, 20, (16,), 12.325705436608),
    (THREE, 20, (11,), 12.324026041002),
    (THREE, 40, (37,), 16.928791796158),
    (THREE, 40, (34,), 16.965837218854),
    (THREE, 40, (27,), 16.975602206649),
    (THREE, 7, (), 6.079427083333),
    (THREE, 7, (4,), 6.32859375),
    (THREE, 7, (3, 5), 6.367527083333),
    (THREE, 7, (4, 6), 6.357177083333),
    (TWO, 10, (), 7.316083054315),
    (TWO, 10, (7,), 7.521536509196),
    (TWO, 10, (5, 8), 7.575080617269),
    (TWO, 10, (4, 7), 7.568337249756),
    (TWO, 10, (4, 6, 8), 7.592918141683),
    (TWO, 10, range(10), 7.595766448975),
    (TWO, 160, (), 23.201192416721),
    (TWO, 160, (64,), 23.215060753151),
    (TWO, 160, (128,), 23.226055562344),
    (TWO, 160, (32, 64, 96, 128), 23.226646682093),
    (TWO, 240, (210,), 25.639224736091),
]
LONG = [
    (TWO, 240, (197, 230), 25.641280755545),
    (TWO, 160, (64, 128), 23.226431953646),
    (TWO, 240, (191, 225, 236), 25.641827591054),
    (TWO, 480, (435,), 29.777149390408),
    (TWO, 480, (415, 467), 29.777996890129),
    (TWO, 480, (404, 459, 474), 29.778195060884),
]


@pytest.mark.parametrize(
    ("observe", "horizon", "looks", "value"),
    [*GOLDEN, *(pytest.param(*row, marks=pytest.mark.slow) for row in LONG)],
)
def test_several_looks_golden(observe, horizon, looks, value):
    assert best(observe, horizon, looks) == pytest.approx(value, rel=1e-13)


def test_best_times_and_greedy_times_of_ten_rounds():
    """Greedy placement takes the best single look, which is too early for a second one."""
    values = {
        looks: best(TWO, 10, looks)
        for count in (1, 2, 3)
        for looks in itertools.combinations(range(1, 10), count)
    }
    tops = [max((s for s in values if len(s) == k), key=values.get) for k in (1, 2, 3)]
    assert tops == [(7,), (5, 8), (4, 6, 8)]
    greedy = max(
        (tuple(sorted({7, other})) for other in range(1, 10) if other != 7), key=values.get
    )
    assert greedy == (4, 7)
    half = {
        k: max(
            best((0.3, 0.7), 12, looks, 0.5) for looks in itertools.combinations(range(1, 12), k)
        )
        for k in (1, 2)
    }
    assert half == pytest.approx({1: 9.336537017373, 2: 9.356437993460}, rel=1e-12)
    assert best((0.3, 0.7), 12, (5, 8, 10), 0.5) == pytest.approx(9.359848847682, rel=1e-12)


def test_times_chosen_as_one_goes():
    found = freely_monitored_potential(TWO, 10, 1.0, 1.0, 2)
    assert found == pytest.approx(7.575355275472, rel=1e-13)
    assert freely_monitored_potential(TWO, 10, 1.0, 1.0, 1) == pytest.approx(best(TWO, 10, (7,)))
    assert freely_monitored_potential(TWO, 10, 1.0, 1.0, 0) == pytest.approx(best(TWO, 10, ()))
    everything = freely_monitored_potential(TWO, 6, 1.0, 1.0, 5)
    assert everything == pytest.approx(adaptive_potential(TWO, 6, 1.0, 1.0), rel=1e-12)


def test_no_look_is_offline_and_all_looks_are_adaptive():
    rng = np.random.default_rng(3)
    for _ in range(10):
        arms, horizon = int(rng.integers(1, 4)), int(rng.integers(1, 9))
        p, lam = rng.uniform(0.1, 1.0, arms), rng.uniform(0.3, 3.0, arms)
        alpha = float(rng.choice([0.5, 1.0, 2.5]))
        offline = offline_potential(p, horizon, alpha, lam).value
        for looks in ([], [0], [horizon], [0, horizon]):
            found = monitored_potential(p, horizon, alpha, lam, looks)
            assert found.value == pytest.approx(offline, rel=1e-12)
            assert sum(found.first) == horizon
        everything = monitored_potential(p, horizon, alpha, lam, range(horizon)).value
        assert everything == pytest.approx(adaptive_potential(p, horizon, alpha, lam), rel=1e-11)


def test_more_looks_never_hurt():
    rng = np.random.default_rng(4)
    for _ in range(15):
        p = rng.uniform(0.1, 1.0, 2)
        looks = sorted(rng.choice(np.arange(1, 12), 3, replace=False).tolist())
        values = [best(p, 12, looks[:k]) for k in range(4)]
        assert (np.diff(values) >= -1e-12).all()


@pytest.mark.slow
def test_second_differences_of_one_look_change_sign():
    gains = [best(TWO, 60, (look,)) for look in range(61)]
    assert (np.diff(gains, 2) > 1e-13).sum() == 19


def test_what_looks_refuse():
    with pytest.raises(InvalidInput, match="looks"):
        monitored_potential(TWO, 10, 1.0, 1.0, [11])
    with pytest.raises(InvalidInput, match="shorter horizon"):
        monitored_potential([0.5] * 6, 200, 1.0, 1.0, [100])
    with pytest.raises(InvalidInput, match="shorter horizon"):
        freely_monitored_potential(TWO, 400, 1.0, 1.0, 5)
