"""Policies for arms, one algorithm per file."""
