"""A study's result as one HTML page, and its style for your own charts."""

from halfseen.report.core.style import styled
from halfseen.report.study.page import report_is_current, write_report

__all__ = ["report_is_current", "styled", "write_report"]
