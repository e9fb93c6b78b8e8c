"""Cells of a study: what is played, laid out as arrays."""
