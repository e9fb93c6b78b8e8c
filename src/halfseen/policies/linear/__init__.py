"""Policies for linear bandits, one algorithm per file."""
