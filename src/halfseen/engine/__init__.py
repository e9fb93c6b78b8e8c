"""The loop, its state and the ways to run it."""
