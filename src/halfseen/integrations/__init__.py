"""Reads and writes logs in the formats of other tools; missing rewards stay missing."""

from typing import TYPE_CHECKING

from halfseen.errors import only_listed
from halfseen.integrations.open_bandit import from_open_bandit, to_open_bandit
from halfseen.integrations.vowpal_wabbit import read_vowpal_wabbit, write_vowpal_wabbit

__all__ = ["from_open_bandit", "read_vowpal_wabbit", "to_open_bandit", "write_vowpal_wabbit"]

if not TYPE_CHECKING:  # the type checker knows the names above
    __getattr__, __dir__ = only_listed(__name__, __all__)
