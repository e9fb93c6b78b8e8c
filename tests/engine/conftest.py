"""What tests of several loops share."""

import pytest

from halfseen import Delayed


@pytest.fixture
def every_round_is_played(monkeypatch):
    """Play the loop of late feedback where no reward is late, too."""
    monkeypatch.setattr(Delayed, "comes_late", True)
