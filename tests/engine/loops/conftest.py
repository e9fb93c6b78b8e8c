"""What tests of several loops share."""

import pytest

from halfseen import Delayed
from halfseen.engine.cells import late_cell, late_vectors_cell


@pytest.fixture
def every_round_is_played(monkeypatch):
    """Play the loop of late feedback where no reward is late, too."""
    for module in (late_cell, late_vectors_cell):
        monkeypatch.setattr(
            module, "comes_late", lambda censorship: isinstance(censorship, Delayed)
        )
