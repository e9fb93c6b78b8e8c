"""The page of a policy's value."""

from halfseen.report.value.page import _table
from halfseen.tables import Table


def test_numbers_of_a_column_have_the_same_number_of_decimals():
    found = Table(("policy", "value"), (("a", 0.5), ("b", -0.0412), ("c", None)))
    page = str(_table(found, "Policies"))
    assert "0.5000" in page
    assert "−0.0412" in page
    assert "–" in page
