"""Ways to run a cell's loop."""
