"""The backends that run a cell's loop."""
