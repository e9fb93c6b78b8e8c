"""Every claim, run: the verdict recorded, and a wrong constant found out."""

import json
import sys
from dataclasses import replace
from functools import cache, partial
from importlib import import_module
from pathlib import Path

import pytest

from halfseen import claims as claims_package
from halfseen.claims import Laboratory, claims, verify
from halfseen.claims.claim import CORRECTED, FAR, HOLDS, REFUTED

# A factor for the number claimed that makes it wrong, near the one at which the claim falls.
WRONG = {
    "optimism-arms": 0.04,
    "censoring-arms": 5e-5,
    "tails": 0.5,
    "notation": 1.05,
    "potential-control-arms": 0.98,
    "potential-control-arms-half": 0.97,
    "potential-control-arms-one": 0.9,
    "orders-of-potentials": 1.2,
    "heteroskedastic-potential": 0.45,
    "water-filling": 0.99,
    "water-filling-caps": 0.99,
    "exact-identity": 1.05,
    "fluid-bound": 0.99,
    "potential-reduction-arms": 0.5,
    "theorem-arms": 0.04,
    "heteroskedastic-arms": 0.07,
    "heteroskedastic-arms-corrected": 0.15,
    "instance-arms": 0.15,
    "heteroskedastic-instance": 0.25,
    "instance-count": 0.9,
    "wald-bound": 0.9,
    "scaling-dimension": 1.2,
    "scaling-horizon": 1.2,
    "scaling-instance": 1.25,
    "arm-splitting": 1.1,
    "inverse-moments": 5.0,
    "offline-equivalent": 1.05,
    "adaptivity-gain": 1.02,
    "single-monitoring": 1.2,
    "monitoring-concave": 1.2,
    "monitoring-submodular": 0.6,
    "several-looks": 1.001,
    "second-order": 1.002,
    "late-look": 1.06,
    "free-looks": 1.001,
    "optimism-linear": 0.5,
    "optimism-linear-proof": 0.15,
    "censoring-linear": 0.005,
    "censoring-linear-sharp": 0.9,
    "potential-control-linear": 0.6,
    "pmin-bound": 0.99,
    "elliptical-potential": 0.99,
    "elliptical-potential-one": 0.99,
    "uniform-model": 0.99,
    "sum-of-norms": 1.1,
    "psd-increments": 0.99,
    "psd-factor": 0.99,
    "dynamics": 1.001,
    "dual-reachability": 1.02,
    "path-potential": 0.999,
    "path-formula": 1.02,
    "one-step": 1.02,
    "path-dimension": 0.999,
    "design-dimension": 1.001,
    "smallest-dimension": 1.01,
    "single-threshold": 0.999,
    "threshold-limits": 0.999,
    "thresholds-between": 1.001,
    "figure-reachable": 0.95,
    "figure-dual-reachable": 0.95,
    "figure-switch": 1.05,
    "theorem-thresholds": 0.99,
    "single-threshold-largest": 1.001,
    "largest-potential": 0.999,
    "largest-expected-potential": 0.96,
    "potential-bounds": 0.999,
    "log-scaling": 0.99,
    "any-order": 0.99,
    "any-order-path": 0.99,
    "any-observe": 0.95,
    "layer-cake": 0.99,
    "population": 0.9,
    "staircase": 0.99,
    "potential-reduction-linear": 0.6,
    "theorem-linear": 0.6,
    "law-sphere": 1.2,
    "law-fixed": 1.2,
    "law-ties": 1.1,
    "law-contexts": 1.15,
    "glm-width": 0.3,
    "glm-regret": 0.06,
    "glm-exploration": 0.8,
    "glm-slowdown": 1.2,
    "wald": 1.05,
    "observed-clock": 0.99,
    "finite-lower-bound": 45.0,
    "minimax": 0.9,
    "imed-slope": 0.6,
    "worth-of-p": 1.001,
    "confidence-sequences": 0.3,
    "late-dimension": 1.02,
    "late-regret": 0.5,
}
# Factors that would make true what is printed and is not.
KIND = {
    "tails": 1e6,
    "potential-control-arms-half": 2.0,
    "heteroskedastic-potential": 1.05,
    "optimism-linear-proof": 10.0,
    "elliptical-potential-one": 20.0,
    "sum-of-norms": 1.2,
    "scaling-dimension": 0.5,
    "glm-width": 50.0,
}


# Each takes a fraction of a second. All of them run in `halfseen verify --quick` too.
QUICK = {
    "dual-reachability",
    "elliptical-potential-one",
    "free-looks",
    "heteroskedastic-potential",
    "inverse-moments",
    "layer-cake",
    "one-step",
    "path-formula",
    "path-potential",
    "population",
    "potential-control-arms-one",
    "psd-factor",
    "psd-increments",
    "single-threshold",
    "smallest-dimension",
    "tails",
    "threshold-limits",
    "thresholds-between",
    "water-filling",
    "worth-of-p",
}


def mark(name):
    return [] if name in QUICK else [pytest.mark.slow]


def each(names):
    return pytest.mark.parametrize("name", [pytest.param(n, marks=mark(n)) for n in names])


@cache
def found(name):
    return verify([name], quick=True)[0]


def test_no_claim_goes_unwatched():
    assert list(WRONG) == list(claims())
    assert set(WRONG) > QUICK


@each(WRONG)
def test_the_verdict_is_as_recorded(name):
    assert found(name).verdict == claims()[name].expected


@each(WRONG)
def test_a_wrong_constant_is_refuted(name):
    assert found(name).evidence.verdict(distort=WRONG[name]) == REFUTED


# Functions of the library made wrong where the claim's module finds them: what is measured must
# not change with them.
def _less_water(right):
    def wrong(*arguments, **more):
        return replace(right(*arguments, **more), value=0.9 * right(*arguments, **more).value)

    return wrong


def _printed_constant(right):
    return lambda *arguments: replace(right(*arguments), value=right(*arguments).papers_claim)


def _blind_to_the_last_look(right):
    return lambda *given: right(*given[:-1], given[-1][:-1])


def _sorted_probabilities(right):
    def wrong(model, **more):
        falling = sorted(model.observe, reverse=True)
        return right(replace(model, observe=falling), **more)

    return wrong


def _one_step_fewer(right):
    return lambda smooth, count: right(smooth, max(1, count - 1))


def _times(factor):
    return lambda right: lambda *arguments, **more: factor * right(*arguments, **more)


MUTATED = [
    ("water-filling", "arms.filling.water_filling", _less_water),
    ("water-filling-caps", "arms.filling.water_filling", _less_water),
    ("fluid-bound", "arms.filling.fluid_potential", _times(0.99)),
    ("adaptivity-gain", "arms.adaptivity.adaptivity_constant", _times(1.02)),
    ("single-monitoring", "arms.adaptivity.monitoring_constant", _printed_constant),
    ("several-looks", "arms.adaptivity.monitored_potential", _blind_to_the_last_look),
    ("threshold-limits", "linear.limits.reachability_threshold", _times(0.99)),
    ("thresholds-between", "linear.limits.dual_reachability_threshold", _times(1.01)),
    ("any-order-path", "linear.order.information_path", _sorted_probabilities),
    ("layer-cake", "linear.order.layered_potential", _times(0.99)),
    ("psd-factor", "linear.sums.trace_potential_factor", _times(0.99)),
    ("staircase", "threshold_models.staircase", _one_step_fewer),
]


@pytest.mark.parametrize(
    ("name", "place", "mutation"),
    [pytest.param(*case, id=case[0], marks=mark(case[0])) for case in MUTATED],
)
def test_a_wrong_function_is_refuted(name, place, mutation, monkeypatch):
    module, function = place.rsplit(".", 1)
    home = import_module(f"halfseen.claims.{module}")
    monkeypatch.setattr(home, function, mutation(getattr(home, function)))
    claim = claims()[name]
    assert claim.run(Laboratory(quick=True)).verdict() == REFUTED


def _excess(factor):
    return lambda right: lambda *given, **more: 1.0 + factor * (right(*given, **more) - 1.0)


def _field(name, factor):
    """Multiply a field of what the function returns."""

    def mutation(right):
        def wrong(*arguments, **more):
            found = right(*arguments, **more)
            change = found._replace if isinstance(found, tuple) else partial(replace, found)
            return change(**{name: factor * getattr(found, name)})

        return wrong

    return mutation


def _one_upper_region(right):
    def wrong(*arguments):
        kept = right(*arguments)
        many = kept.edge == "upper" and len(kept.regions) > 2
        return kept._replace(regions=kept.regions[:1]) if many else kept

    return wrong


AREA = "arms.power_sums.power_integral"
# Functions made wrong everywhere in the library, with the claims that must notice.
EVERYWHERE = [
    *(
        (name, AREA, _times(factor))
        for name in ("water-filling", "water-filling-caps", "uniform-model", "fluid-bound")
        for factor in (0.9, 0.99, 1.01)
    ),
    ("elliptical-potential", AREA, _times(0.9)),
    ("psd-factor", "linear.norm_sums.trace_potential_factor", _times(0.99)),
    ("psd-factor", "linear.norm_sums.trace_potential_factor", _excess(0.97)),
    ("psd-factor", "linear.norm_sums.trace_potential_factor", _excess(1.03)),
    ("psd-factor", "linear.norm_sums.trace_potential", _field("value", 1.001)),
    ("psd-factor", "linear.norm_sums.trace_potential", _field("bound", 0.999)),
    *(
        (name, "linear.path.InformationPath.potential", _times(factor))
        for name in ("any-order-path", "path-potential", "dynamics")
        for factor in (0.997, 1.003)
    ),
    ("any-order", "linear.kept_regions.regions_that_matter", _one_upper_region),
    ("any-order-path", "linear.kept_regions.regions_that_matter", _one_upper_region),
    ("fluid-bound", "arms.potential.joint_potential", _times(1.001)),
    ("second-order", "arms.second_order.second_order_potential", _field("offline", 1.001)),
    ("second-order", "arms.second_order.second_order_potential", _field("adaptive", 0.999)),
    ("second-order", "arms.second_order.second_order_potential", _field("gain", 1.03)),
    ("second-order", "arms.second_order.second_order_potential", _field("error_order", 0.9)),
    ("late-look", "arms.late_look.late_look_constant", _times(1.02)),
    ("late-look", "arms.late_look.late_look_constant", _times(0.98)),
    ("late-look", "arms.late_look.look_gain", _times(1.08)),
    ("late-look", "arms.late_look.look_gain", _times(0.92)),
    ("free-looks", "arms.looks.freely_monitored_potential", _times(1.0001)),
    ("free-looks", "arms.single_look.single_monitoring_potential", _field("value", 1.0001)),
    (
        "design-dimension",
        "linear.optimal_design.optimal_design_dimension",
        _field("dimension", 0.999),
    ),
    ("sum-of-norms", "linear.norm_sums.tight_norm_sum", _field("value", 1.001)),
    ("sum-of-norms", "linear.norm_sums.tight_norm_sum", _field("value", 0.99)),
    ("sum-of-norms", "linear.norm_sums.tight_norm_sum", _field("bound", 1.001)),
    ("any-observe", "linear.worst_case.worst_case_dimension", _times(1.001)),
    ("any-order", "linear.worst_case.worst_case_dimension", _times(1.01)),
    *(
        ("potential-bounds", "linear.potential_limits.potential_bounds", _field(name, factor))
        for name in ("worst_case", "expected", "dimension", "information_dimension", "lower")
        for factor in (0.999, 1.001)
    ),
    ("potential-bounds", "linear.potential_limits.potential_bounds", _field("upper", 0.9)),
    ("worth-of-p", "lower.asymptotic.asymptotic_lower_bound", _field("constant", 1.001)),
    ("worth-of-p", "lower.asymptotic.asymptotic_lower_bound", _field("ignoring", 0.999)),
    ("imed-slope", "lower.asymptotic.asymptotic_lower_bound", _field("constant", 0.6)),
]


@pytest.fixture
def forgetful():
    """Empty what the theory remembers, before it is made wrong and after."""

    def forget():
        for key, module in list(sys.modules.items()):
            if key.startswith("halfseen.theory"):
                for value in vars(module).values():
                    getattr(value, "cache_clear", int)()

    forget()
    yield
    forget()


def _everywhere(place, mutation, monkeypatch):
    """Replace a function, or a method, in every module of the library that holds it."""
    home, name = place.rsplit(".", 1)
    package, _, owner = home.rpartition(".")
    if owner[:1].isupper():
        owner = getattr(import_module(f"halfseen.theory.{package}"), owner)
        monkeypatch.setattr(owner, name, mutation(getattr(owner, name)))
        return
    right = getattr(import_module(f"halfseen.theory.{home}"), name)
    wrong = mutation(right)
    claims()  # so that every module is there
    for module in [m for key, m in sys.modules.items() if key.startswith("halfseen")]:
        if vars(module).get(name) is right:
            monkeypatch.setattr(module, name, wrong)


@pytest.mark.parametrize(
    ("name", "place", "mutation"),
    [
        pytest.param(
            *case,
            id=f"{case[0]}-{case[1].rsplit('.', 1)[1]}-{number}",
            marks=mark(case[0]),
        )
        for number, case in enumerate(EVERYWHERE)
    ],
)
@pytest.mark.usefixtures("forgetful")
def test_a_function_wrong_everywhere_is_refuted(name, place, mutation, monkeypatch):
    _everywhere(place, mutation, monkeypatch)
    assert claims()[name].run(Laboratory(quick=True)).verdict() == REFUTED


def test_measuring_takes_no_sums_of_powers_from_the_theory():
    folder = Path(claims_package.__file__).parent
    modules = [*folder.rglob("*.py")]
    assert len(modules) > 20
    assert [m.name for m in modules if "theory.arms.power_sums" in m.read_text("utf-8")] == []


@each(KIND)
def test_a_constant_large_enough_would_have_held(name):
    assert found(name).verdict != HOLDS
    assert found(name).evidence.verdict(distort=KIND[name]) == HOLDS


@each(WRONG)
def test_equalities_are_measured_finely_enough(name):
    evidence = found(name).evidence
    for one in (*evidence.printed, *evidence.corrected):
        assert one.decided, one.where


@each(WRONG)
def test_what_was_found_can_be_written_down(name):
    json.dumps(found(name).to_dict(), allow_nan=False)
    if found(name).evidence.curve is not None:
        json.dumps([[list(line.x), list(line.y)] for line in found(name).evidence.curve.lines])


@each(WRONG)
def test_corrections_are_needed_and_enough(name):
    assert bool(found(name).evidence.corrected) == (claims()[name].expected == CORRECTED)


@each(WRONG)
def test_bounds_say_how_tight_they_are(name):
    finding = found(name)
    bounds = [c for c in finding.evidence.printed if c.relation != "equals" and c.claimed]
    if finding.verdict == HOLDS and bounds:
        assert 0.0 <= finding.evidence.closest.strain <= 1.0 + 1e-9
        assert "of the bound" in finding.tightness
        assert ("Far from tight" in finding.tightness) == (finding.evidence.closest.strain < FAR)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 3, 4])
def test_other_seeds_give_the_same_verdicts(seed):
    wrong = [f.claim.name for f in verify(quick=True, seed=seed) if not f.as_recorded]
    assert wrong == []


@pytest.mark.slow
def test_a_laboratory_of_other_seed_plays_other_numbers():
    claim = claims()["exact-identity"]
    first, second = (claim.run(Laboratory(seed=seed)).printed[0] for seed in (1, 2))
    assert first.measured != second.measured
