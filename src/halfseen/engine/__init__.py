"""The simulation loops, their state and the backends."""
