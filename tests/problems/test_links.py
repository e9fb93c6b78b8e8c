"""Links: their values, their constants and those of your own."""

import math

import mpmath
import pytest

from halfseen import InvalidInput, Link
from halfseen.problems.links import LINKS, hazard, link_named


def mean_of(name):
    return {
        "logistic": lambda z: 1 / (1 + mpmath.exp(-z)),
        "probit": mpmath.ncdf,
        "poisson": mpmath.exp,
        "identity": lambda z: +z,
    }[name]


@pytest.mark.parametrize("name", sorted(LINKS))
def test_curves_slopes_and_scores_to_many_digits(name):
    link, exact = LINKS[name], mean_of(name)
    with mpmath.workdps(30):
        for z in (-9.0, -1.3, 0.0, 0.4, 8.0):
            assert link.mean(z) == pytest.approx(float(exact(mpmath.mpf(z))), rel=1e-13, abs=1e-300)
            slope = float(mpmath.diff(exact, mpmath.mpf(z)))
            assert link.slope(z) == pytest.approx(slope, rel=1e-12)
            if name != "probit":
                continue

            def likelihood(x):
                return 3 * mpmath.log(mpmath.ncdf(x)) + 4 * mpmath.log(mpmath.ncdf(-x))

            score, curvature = link.kernels.score, link.kernels.curvature
            right = float(mpmath.diff(likelihood, mpmath.mpf(z)))
            assert score(7.0, 3.0, z) == pytest.approx(right, rel=1e-12)
            right = -float(mpmath.diff(likelihood, mpmath.mpf(z), 2))
            assert curvature(7.0, 3.0, z) == pytest.approx(right, rel=1e-9)


def test_hazard_far_out():
    with mpmath.workdps(40):
        for z in (-300.0, -37.0, -12.0, -11.9, 3.0):
            x = mpmath.mpf(z)
            right = mpmath.npdf(x) / mpmath.ncdf(x)
            assert hazard(z) == pytest.approx(float(right), rel=1e-12)


def test_constants_on_an_interval():
    assert LINKS["logistic"].slopes(1.0) == (LINKS["logistic"].slope(1.0), 0.25)
    assert LINKS["poisson"].slopes(2.0) == pytest.approx((math.exp(-2), math.exp(2)))
    assert LINKS["logistic"].bends(1.0) == (LINKS["logistic"].slope(1.0), 1.0)
    least, weight = LINKS["probit"].bends(1.0)
    m = hazard(1.0)
    assert least == pytest.approx(m * (m + 1.0))
    assert weight == pytest.approx(hazard(1.0) + hazard(-1.0))
    assert LINKS["identity"].bends(5.0) == (1.0, 1.0)


def bump(z):
    return math.sin(z)


def cosine(z):
    return math.cos(z)


def test_a_curve_of_your_own_is_checked(monkeypatch):
    monkeypatch.setattr("halfseen.problems.links.LINKS", dict(LINKS))
    link = Link("sine, for tests", bump, cosine, reward="gaussian")
    link.check("here", 1.5)
    with pytest.raises(InvalidInput, match="increasing"):
        link.check("here", 2.0)
    with pytest.raises(InvalidInput, match="derivative"):
        Link("wrong slope", bump, math.exp).check("here", 1.0)
    assert link_named("here", link) is link
    assert link_named("here", "sine, for tests") is link
    assert Link("sine, for tests", bump, cosine) == link
    again = Link("sine, for tests", lambda z: 2 * bump(z), lambda z: 2 * cosine(z))
    assert again != link
    assert link_named("here", again) is again
    assert link_named("here", "sine, for tests") is again
    with pytest.raises(InvalidInput, match="name of a built-in link"):
        link_named("here", Link("logistic", bump, cosine))
    assert link_named("here", "logistic") is LINKS["logistic"]
    with pytest.raises(InvalidInput, match="Did you mean 'logistic'"):
        link_named("here", "logistc")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("x", 3, cosine), "function of one number"),
        (("", bump, cosine), "printable"),
        (("x", bump, cosine, "gauss"), "must be one of"),
        (("x", bump, cosine, "gaussian", bump), "come with its curvature"),
    ],
)
def test_malformed_links_are_refused(arguments, said):
    with pytest.raises(InvalidInput, match=said):
        Link(*arguments)
