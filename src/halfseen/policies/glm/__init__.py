"""Policies for generalized linear bandits, one algorithm per file."""
