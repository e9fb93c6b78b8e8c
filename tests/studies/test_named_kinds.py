"""What is given to a study in the place of problems, censorships and policies."""

import pytest

from halfseen import UCB, ArmedBandit, InvalidInput, Study, Uniform


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ((UCB,), "`Study.policies` must be an object, not a class; got <class .*Write UCB"),
        (([UCB()],), "Name each of them"),
        (("ucb",), r"For example UCB\(\)"),
        ((Uniform(0.5),), "The order is Study"),
        (({"a": UCB},), r"`Study.policies\['a'\]` must be an object, not a class"),
        (({},), "`Study.policies` must not be empty"),
        (
            (UCB(), 100),
            r"by name; got 100\. Write Study\(problems, censorships, policies, horizon=",
        ),
    ],
)
def test_a_study_given_something_else_says_what_to_write(given, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        Study(
            ArmedBandit([0.6, 0.5]),
            Uniform(0.5),
            *given,
            **({} if len(given) > 1 else {"horizon": 9}),
        )
