"""A study's result as one HTML page, and its style for your own charts."""

from typing import TYPE_CHECKING

from halfseen.errors import only_listed
from halfseen.report.core.style import styled
from halfseen.report.study.page import report_is_current, write_report

__all__ = ["report_is_current", "styled", "write_report"]

if not TYPE_CHECKING:  # the type checker knows the names above
    __getattr__, __dir__ = only_listed(__name__, __all__)
