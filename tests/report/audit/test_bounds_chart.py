"""The chart of bounds draws what the sentences are about."""

from halfseen import audit
from halfseen.report.audit.bounds_chart import DRAWN, bounds_chart


def test_the_arms_of_the_sentences_are_drawn_and_those_with_the_largest_means():
    rows = {"a": [], "r": []}
    for arm, count, seen, mean in [
        *((f"risky{i}", 1000, 100, 2.0 - i / 100) for i in range(12)),
        ("safe", 1000, 1000, 1.85),
    ]:
        rows["a"] += [arm] * count
        rows["r"] += [mean + (0.5 if i % 2 else -0.5) for i in range(seen)]
        rows["r"] += [None] * (count - seen)
    found = audit(rows, action="a", reward="r")
    assert found.bounds(2.0).safe == "safe"
    drawn = {row["arm"] for row in bounds_chart(found, "log").rows}
    assert drawn == {*(f"risky{i}" for i in range(DRAWN - 1)), "safe"}
    first = [row for row in bounds_chart(found, "log").rows if row["gamma"] == 1.0]
    assert all(abs(row["high"] - row["low"]) < 1e-12 for row in first)
