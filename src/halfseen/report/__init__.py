"""A study's result as one page people can read, and its look for your own charts."""

from halfseen.report.html import write_report
from halfseen.report.style import styled

__all__ = ["styled", "write_report"]
