"""Reads and writes logs in the formats of other tools; missing rewards stay missing."""

from halfseen.integrations.open_bandit import from_open_bandit, to_open_bandit
from halfseen.integrations.vowpal_wabbit import read_vowpal_wabbit, write_vowpal_wabbit

__all__ = ["from_open_bandit", "read_vowpal_wabbit", "to_open_bandit", "write_vowpal_wabbit"]
