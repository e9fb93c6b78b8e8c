"""Bandits when feedback goes missing."""
