"""The mathematics as pure functions."""
