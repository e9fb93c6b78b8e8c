"""Cells of a study, laid out as arrays."""
