import inspect
import re
import subprocess
import sys

import pytest

from halfseen import theory


@pytest.mark.parametrize("name", theory.__all__)
def test_every_public_name_is_there_and_documented(name):
    thing = getattr(theory, name)
    assert thing.__doc__
    assert name in dir(theory)
    if not isinstance(thing, type):
        for part in ("Parameters", "Returns", "References", "Examples"):
            assert f"{part}\n    ---" in thing.__doc__, part


FUNCTIONS = [name for name in theory.__all__ if inspect.isfunction(getattr(theory, name))]
ORDER = ("observe", "horizon", "alpha", "regularization")
SAME_PLACE = {"observe_min": "observe", "budget": "horizon"}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_parameters_follow_one_order_and_options_are_keyword_only(name):
    given = inspect.signature(getattr(theory, name)).parameters
    places = [SAME_PLACE.get(parameter, parameter) for parameter in given]
    assert [place for place in ORDER if place in places] == [p for p in places if p in ORDER]
    for parameter in given.values():
        if parameter.default is not parameter.empty and parameter.name != "dimension":
            assert parameter.kind is parameter.KEYWORD_ONLY, parameter.name


@pytest.mark.parametrize("name", FUNCTIONS)
def test_parameters_are_documented_in_the_order_of_the_signature(name):
    function = getattr(theory, name)
    section = inspect.getdoc(function).split("Parameters\n----------\n")[1]
    section = re.split(r"\n\n\w+\n-+\n", section)[0]
    listed = ", ".join(line for line in section.splitlines() if line and line[0] != " ")
    assert listed.split(", ") == list(inspect.signature(function).parameters)


def test_unknown_names_are_refused():
    with pytest.raises(AttributeError, match="no attribute 'ghost'"):
        theory.ghost  # noqa: B018


def test_importing_is_light():
    code = (
        "import sys, halfseen.theory\n"
        "assert not any(m.startswith('scipy') for m in sys.modules)\n"
        "[getattr(halfseen.theory, name) for name in halfseen.theory.__all__]\n"
        "assert 'scipy.stats' not in sys.modules\n"
        "assert 'xarray' not in sys.modules\n"
        "assert not any(m.startswith('halfseen.engine') for m in sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
