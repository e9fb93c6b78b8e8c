"""The explorer's numbers are the library's, and its code gives the same."""

import contextlib
import io
import math
import re
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfseen import (
    UCB,
    ArmedBandit,
    GeometricDelay,
    InvalidInput,
    MultiThreshold,
    PerArm,
    RewardDependent,
    read_spec,
    theory,
)
from halfseen.explorer.arms_view import ArmsView
from halfseen.explorer.delay_view import DelayView
from halfseen.explorer.gamma_view import GammaView
from halfseen.explorer.plays import updates
from halfseen.explorer.site import VIEWS
from halfseen.explorer.threshold_view import ThresholdView
from halfseen.explorer.tour import STEPS
from halfseen.tables import show


def picture(view, name):
    return next(picture for picture in view.pictures() if picture.name == name)


def test_arms_page_gives_the_effective_dimension_and_the_bound_of_the_library():
    view = ArmsView.read({"means": "0.6,0.2", "observe": "0.3,0.9", "horizon": "1000"})
    bound = theory.regret_bounds(
        ArmedBandit([0.6, 0.2], reward="bernoulli"), PerArm([0.3, 0.9]), UCB(), 1000
    ).smallest.value
    said = " ".join(view.answers())
    assert show(theory.effective_dimension([0.3, 0.9])) in said
    assert f"at most {show(bound)} in 1,000" in said
    assert [row["weight"] for row in picture(view, "weights").rows] == [1 / 0.3, 1 / 0.9]
    last = [row for row in picture(view, "water").rows if row["frame"] == 39]
    assert math.isclose(sum(row["rounds"] for row in last), 1000)
    assert np.allclose(last[0]["seen"], last[1]["seen"])


def test_threshold_page_gives_the_path_of_the_library():
    view = ThresholdView.read({"degrees": "60", "observe": "1,0.75", "dimension": "3"})
    path = theory.information_path(MultiThreshold([math.pi / 3], [1, 0.75], [0, 0, 1]))
    assert f"is {show(path.effective_dimension)};" in view.answers()[0]
    rows = picture(view, "potential").rows
    for row in rows:
        if row["which"] == "J of the path":
            assert row["value"] == pytest.approx(path.potential(row["time"]))
    most = {row["time"]: row["value"] for row in rows if row["which"] != "J of the path"}
    assert all(row["value"] <= most[row["time"]] * (1 + 1e-9) for row in rows)
    flat = ThresholdView.read({"degrees": "60", "observe": "1,0.75", "dimension": "2"})
    heights = [row["along"] for row in picture(flat, "globe").rows if row["region"] == 1]
    assert min(heights) == pytest.approx(math.sin(math.pi / 3))


def test_threshold_page_draws_a_sphere_in_three_dimensions():
    view = ThresholdView.read({"degrees": "30,60", "observe": "1,0.75,0.5", "dimension": "3"})
    whole, *caps = picture(view, "globe").rows
    assert whole["geometry"] == {"type": "Sphere"}
    assert [cap["p"] for cap in caps] == [0.75, 0.5]
    for cap, angle in zip(caps, (30.0, 60.0), strict=True):
        (ring,) = cap["geometry"]["coordinates"]
        assert {latitude for _, latitude in ring} == {angle}
        assert ring[0][0] - ring[-1][0] == 360


def test_delay_page_gives_the_dimension_of_the_window():
    view = DelayView.read({"means": "0.6,0.5", "delays": "200,20", "arrive": "0.9,0.8"})
    seen = [
        GeometricDelay(200, arrive=0.9).arrived_by(100),
        GeometricDelay(20, arrive=0.8).arrived_by(100),
    ]
    assert show(theory.effective_dimension(seen)) in view.answers()[0]


def test_gamma_page_agrees_with_the_censorship_and_holds_the_truth():
    query = {"means": "0.6,0.5", "successes": "0.4,0.8", "failures": "0.6,0.5"}
    view = GammaView.read(query)
    problem = ArmedBandit([0.6, 0.5], reward="bernoulli")
    hidden = RewardDependent([{0: 0.6, 1: 0.4}, {0: 0.5, 1: 0.8}])
    assert np.allclose(view.rewards.mean, hidden.seen_means(problem), rtol=1e-9)
    assert view.gamma == pytest.approx(4.0)
    for row in picture(view, "bounds").rows:
        if row["kind"] == "band" and row["gamma"] >= view.gamma:
            assert row["low"] <= view.values["means"][int(row["which"][-1]) - 1] <= row["high"]


def numbers(text):
    """Return the numbers in a text, percentages as they stand."""
    found = re.findall(r"(?<![\w.])\d[\d,]*(?:\.\d+)?", text)
    return [float(number.replace(",", "").rstrip(".")) for number in found]


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=[] if n == "arms" else [pytest.mark.slow]) for n in VIEWS],
)
def test_python_of_a_page_prints_what_the_page_says(name):
    settings = {"horizon": "200"} if "horizon" in view_names(name) else {}
    if name == "arms":
        settings |= {"means": "0.9,0.2", "observe": "0.8,0.9", "horizon": "20000"}
    view = VIEWS[name].read(settings)
    text = view.python().replace("replications=128", "replications=2")
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(text, f"{name}.py", "exec"), {})
    places = list(range(9))
    known = numbers(printed.getvalue()) + numbers(view.address) + places
    for number in numbers(" ".join(view.answers())):
        assert any(math.isclose(number, other, rel_tol=6e-3) for other in known), number
    assert "effective dimension" in printed.getvalue() or name == "missing-not-at-random"


def test_replications_of_the_copied_python_are_those_played():
    view = ArmsView.read({"horizon": "100"})
    scope = {}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(view.python(), "arms.py", "exec"), scope)
    assert scope["study"].to_dict() | {"checkpoints": 25} == view.study().to_dict()


@pytest.mark.parametrize("name", VIEWS)
def test_a_new_picture_takes_less_than_a_tenth_of_a_second_to_compute(name):
    def shown():
        view = VIEWS[name].read({})
        started = time.thread_time()
        view.to_dict()
        return time.thread_time() - started

    shown()
    assert min(shown() for _ in range(5)) < 0.1


def view_names(name):
    return [control.name for control in VIEWS[name].controls]


def test_toml_of_thresholds_is_a_study_of_its_censorship(tmp_path):
    view = ThresholdView.read({"degrees": "20,60", "observe": "1,0.5,0.2", "dimension": "4"})
    path = tmp_path / "spec.toml"
    path.write_text(view.toml())
    spec = read_spec(path)
    assert spec.censorships["thresholds"] == view.model
    assert spec.problems["ball"].dimension == 4


@pytest.mark.parametrize("name", [name for name in VIEWS if VIEWS[name].read({}).study()])
def test_toml_of_a_page_is_the_study_it_plays(name, tmp_path):
    view = VIEWS[name].read({})
    path = tmp_path / "spec.toml"
    path.write_text(view.toml())
    spec, played = read_spec(path), view.study()
    assert spec.problems["arms"] == played.problems["arms"]
    assert spec.censorships == played.censorships
    assert spec.policies == played.policies
    for name in ("horizon", "replications", "seed"):
        assert getattr(spec, name) == getattr(played, name)


def test_updates_average_ever_more_replications_of_the_study():
    from halfseen import simulate

    view = ArmsView.read({"horizon": "200"})
    found = list(updates(view))
    done = [update["done"] for update in found]
    assert done[0] == 2
    assert done[-1] == found[0]["total"] == 128
    assert done == sorted(set(done))
    regret = simulate(view.study()).data["regret"].isel(problem=0, censorship=0, checkpoint=-1)
    for update in (found[0], found[-1]):
        ends = [row["mean"] for row in update["rows"] if row["round"] == 200]
        among = regret.isel(replication=slice(update["done"]))
        assert np.allclose(ends, among.mean("replication").values)


def test_steps_of_the_tour_are_addresses_of_pages():
    for step in STEPS:
        query = dict(part.split("=") for part in step.address.split("&"))
        view = VIEWS[step.view].read(query)
        assert view.address == step.address


def test_what_the_tour_says_of_thresholds_is_what_its_page_says():
    step = next(step for step in STEPS if step.view == "thresholds")
    query = dict(part.split("=") for part in step.address.split("&"))

    def sizes(p):
        path = ThresholdView.read(query | {"observe": f"1,{p}"}).path
        return path.effective_dimension, path.worst_case_dimension

    assert query["observe"] == "1,0.75"
    assert "is 3.5, below d / p_min, which is 4" in step.text
    assert "from 0.375 on" in step.text
    assert sizes(0.75) == (3.5, 4.0)
    assert sizes(0.38)[0] < sizes(0.38)[1]
    assert sizes(0.375)[0] == sizes(0.375)[1]


def test_readers_of_the_readme_find_the_tour_and_its_picture():
    root = Path(__file__).parents[2]
    page = (root / "docs" / "how-to" / "explore.md").read_text(encoding="utf-8")
    told = re.findall(r"^\d\. \*(.+?)\*:", page.partition("## A tour in five steps")[2], re.M)
    assert told == [step.title for step in STEPS]
    readme = (root / "README.md").read_text(encoding="utf-8")
    assert "](docs/how-to/explore.md#a-tour-in-five-steps)" in readme
    assert "](docs/images/explore.png)" in readme


def test_address_leads_back_to_the_same_page():
    for kind in VIEWS.values():
        view = kind.read({})
        query = dict(part.split("=") for part in view.address.split("&"))
        assert kind.read(query) == view


@pytest.mark.parametrize(
    ("name", "query", "said"),
    [
        ("arms", {"means": "0.6,nan"}, "`means` must be a number; got 'nan'"),
        ("arms", {"means": "0.6"}, "2 to 8 numbers"),
        ("arms", {"means": "0.6,0.5", "observe": "0.1,0.2,0.3"}, "`observe` must be 2 numbers"),
        ("arms", {"observe": "0.3,0,0.3"}, "`observe`"),
        ("arms", {"horizon": "1e99"}, "`horizon`"),
        (
            "arms",
            {"horizons": "9"},
            "nothing but means, observe and horizon; got 'horizons'",
        ),
        (
            "thresholds",
            {"degrees": "60,30", "observe": "1,0.5,0.2"},
            "`degrees` must rise from each number to the next; got '60,30'",
        ),
        ("delays", {"window": "2.5"}, "`window`"),
        ("missing-not-at-random", {"successes": "a,b"}, "`successes` must be a number"),
    ],
)
def test_nonsense_in_an_address_gets_a_sentence(name, query, said):
    with pytest.raises(InvalidInput) as refused:
        VIEWS[name].read(query)
    assert said in str(refused.value)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(sorted(VIEWS)),
    st.lists(st.floats(0, 1), min_size=2, max_size=5),
    st.lists(st.floats(0.02, 1), min_size=5, max_size=5),
)
def test_whatever_the_sliders_say_there_is_a_page_or_a_sentence(name, means, chances):
    names = view_names(name)
    lists = {c.name: c for c in VIEWS[name].controls if c.entries}
    values = {"means": means, "observe": chances}
    query = {n: ",".join(map(str, values[n][: len(means)])) for n in values if n in lists}
    try:
        view = VIEWS[name].read({key: text for key, text in query.items() if key in names})
    except InvalidInput:
        return
    content = view.to_dict()
    assert all(isinstance(text, str) and text for text in content["answers"])
    for chart in content["pictures"]:
        numbers = [v for row in chart["rows"] for v in row.values() if isinstance(v, float)]
        assert all(map(math.isfinite, numbers))


@pytest.mark.parametrize("name", VIEWS)
def test_both_ends_of_every_slider_can_be_shown(name):
    kind = VIEWS[name]
    for control in kind.controls:
        for end in (control.low, control.high):
            count = 1 if control.entries is None else len(control.start)
            shown = kind.read({control.name: ",".join([f"{end:g}"] * count)}).to_dict()
            assert shown["answers"]
            assert all(picture["rows"] for picture in shown["pictures"])
