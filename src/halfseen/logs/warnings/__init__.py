"""Checks for problems in a log that would invalidate conclusions."""
