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
