"""The chart of bounds says who proved them."""

from halfseen import UCB, ArmedBandit, Uniform, theory


def test_the_trivial_bound_is_nobodys():
    found = theory.regret_bounds(ArmedBandit([0.9, 0.1]), Uniform(0.5), UCB(), 1_000)
    rows = {row["bound"]: row["from"] for row in found.plot().to_dict()["data"]["values"]}
    assert rows["trivial"] == "of any policy"
    assert rows["paper's theorem"] == "the paper"
    assert "proved here" in rows.values()
