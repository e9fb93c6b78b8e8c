"""The page of a policy's value."""

import numpy as np
import pandas as pd
import pytest

from halfseen import InvalidInput, value
from halfseen.report.value.page import _table
from halfseen.report.value.value_charts import differ_chart, policies_chart
from halfseen.tables import Table


def test_numbers_of_a_column_have_the_same_number_of_decimals():
    found = Table(("policy", "value"), (("a", 0.5), ("b", -0.0412), ("c", None)))
    page = str(_table(found, "Policies"))
    assert "0.5000" in page
    assert "−0.0412" in page
    assert "–" in page


@pytest.mark.slow
def test_each_chart_of_a_value_can_be_drawn_and_one_it_lacks_is_refused():
    log = {"arm": [*"ab"] * 30, "paid": [1.0, 0.0, 0.5, None, 0.2, 0.7] * 10}
    found = value(log, target={"a": 1}, action="arm", reward="paid")
    names = {"policies": 2, "estimates": len(found.alternatives)}
    for what, rows in names.items():
        (drawn,) = found.plot(what).to_dict()["datasets"].values()
        assert len(drawn) == rows
    assert found.plot("differ").to_dict()["title"]["text"] == "Bounds against Gamma"
    with pytest.raises(InvalidInput, match="`what` must be one of policies, estimates, differ"):
        found.plot("difer")


@pytest.mark.parametrize(
    ("more", "given"), [({}, "in a context"), ({"features": ["age"]}, "with equal features")]
)
def test_the_chart_of_the_bounds_says_what_rewards_have_in_common(more, given):
    log = {"arm": [*"ab"] * 30, "paid": [1, 0, 0, None, 1, 1] * 10, "age": [*range(20, 50)] * 2}
    found = value(log, target={"a": 1}, action="arm", reward="paid", **more)
    assert f"any two rewards of an arm {given}." in differ_chart(found, "differ").note


def test_a_difference_is_not_said_to_be_known_better_than_each_value():
    rng = np.random.default_rng(0)
    arm = rng.integers(0, 2, 400)
    frame = pd.DataFrame({"a": arm, "r": rng.normal(arm, 1.0), "p": 0.5})
    found = value(frame, target={0: 1.0}, compare={1: 1.0}, action="a", reward="r", propensity="p")
    assert found.difference.standard_error > found.target.standard_error
    note = policies_chart(found, "log").note
    assert "known better" not in note
    assert "the difference has its own interval, in the table" in note
