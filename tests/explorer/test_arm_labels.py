"""Labels of arms: short, and different where the names are."""

from hypothesis import given
from hypothesis import strategies as st

from halfseen.explorer.arm_labels import LONGEST, arm_labels


@given(
    st.lists(
        st.one_of(
            st.text("ab", min_size=1, max_size=40),
            st.builds(
                lambda k, m, n: "x" * 30 + "a" * k + "b" * m + "y" * n,
                *[st.integers(0, 30)] * 3,
            ),
        ),
        unique=True,
        max_size=12,
    )
)
def test_labels_fit_and_no_two_are_the_same(names):
    labels = arm_labels(names)
    assert len(set(labels)) == len(names)
    assert all(len(label) <= LONGEST for label in labels)
    assert all(labels[k] == name for k, name in enumerate(names) if len(name) <= LONGEST)


def test_names_that_differ_in_the_middle_show_where():
    names = [f"banner number {k} with a long name" for k in range(24)]
    for k, label in enumerate(arm_labels(names)):
        assert label.startswith(f"banner …{k} with")
