"""Policies in live use: choose, then observe or miss."""
