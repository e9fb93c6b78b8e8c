"""The loops that play replications, and what they record."""
