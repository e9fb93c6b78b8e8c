"""A study's result as one page people can read."""

from halfseen.report.html import write_report

__all__ = ["write_report"]
