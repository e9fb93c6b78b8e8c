"""The look of the reports does not replace what a chart says itself."""

import altair as alt
import pytest

from halfseen.report import styled

ROWS = alt.Data(values=[{"p": 0.1, "regret": 10.0}])
AXIS = alt.Axis(format="%")
LINE = alt.Chart(ROWS).mark_line().encode(x=alt.X("p:Q", axis=AXIS), y="regret:Q")


@pytest.mark.parametrize(
    "chart",
    [
        LINE,
        LINE + LINE,
        LINE | LINE,
        (LINE + LINE).facet("p:N"),
        alt.Chart(ROWS).mark_line().encode(x=alt.X("p:Q").axis(format="%")),
    ],
)
def test_the_format_of_an_axis_is_kept(chart):
    written = str(styled(chart).to_dict())
    assert "'format': '%', 'labelExpr': 'datum.label'" in written
    assert "labelExpr" not in str(chart.to_dict())


def test_a_label_of_its_own_and_an_axis_without_a_format_are_left_alone():
    own = alt.Axis(format="%", labelExpr="datum.value")
    chart = (
        alt.Chart(ROWS).mark_line().encode(x=alt.X("p:Q", axis=own), y=alt.Y("regret:Q", axis=None))
    )
    encoding = styled(chart).to_dict()["encoding"]
    assert encoding["x"]["axis"]["labelExpr"] == "datum.value"
    assert encoding["y"]["axis"] is None
