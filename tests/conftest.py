"""Errors that the command and the reports turn into sentences are raised in tests."""

import os

os.environ["HALFSEEN_DEBUG"] = "1"
