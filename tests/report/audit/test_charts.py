"""The charts of an audit draw what its sentences and tables are about."""

import pytest

from halfseen import audit
from halfseen.report.audit.charts import sensitivity_chart


def log_of(cells):
    """Return a log from cells (arm, rows, seen, mean): rewards half a unit around the mean."""
    rows = {"a": [], "r": []}
    for arm, count, seen, mean in cells:
        rows["a"] += [arm] * count
        rows["r"] += [mean + (0.5 if i % 2 else -0.5) for i in range(seen)]
        rows["r"] += [None] * (count - seen)
    return rows


RISKY = [(f"risky{i}", 1000, 100, 2.0 - i / 100) for i in range(8)]
CASES = {
    "one arm always seen": [*RISKY, ("safe", 1000, 1000, 1.8)],
    "every difference another arm": [  # lines that touch a parabola, each near one difference
        *((f"at {x}", 1000, round(500 - 450 * x), 2.0 - 0.11 * x**2) for x in (-1, -0.5, -0.25, 0)),
        *((f"at {x}", 1000, round(500 - 450 * x), 2.0 - 0.11 * x**2) for x in (0.1, 0.25, 0.5, 1)),
    ],
}


@pytest.mark.parametrize("cells", CASES.values(), ids=CASES)
def test_the_best_arm_its_rival_and_all_arms_of_the_table_are_drawn(cells):
    found = audit(log_of(cells), action="a", reward="r")
    told = found.sensitivity
    figure = sensitivity_chart(found, "log")
    drawn = {row["arm"] for row in figure.rows}
    named = {told.best, told.rival, *(move["best arm"] for move in told.moves)}
    assert named <= drawn
    assert (told.best, told.rival) in (("risky0", "safe"), ("at 0", "at 0.1"))
    largest = sorted(found.arms, key=lambda arm: -found.counts.mean[found.arms.index(arm)])
    assert named | set(largest[: 7 - len(named)]) <= drawn


def test_lines_of_more_arms_than_colours_are_told_apart_by_dashes():
    found = audit(log_of(CASES["every difference another arm"]), action="a", reward="r")
    layer = sensitivity_chart(found, "log").spec["spec"]["layer"][1]["encoding"]
    arms = layer["color"]["scale"]["domain"]
    looks = zip(
        layer["color"]["scale"]["range"], layer["strokeDash"]["scale"]["range"], strict=True
    )
    assert len({(shade, tuple(dash)) for shade, dash in looks}) == len(arms) == 8
