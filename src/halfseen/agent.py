"""A policy in live use."""


class Agent:
    """Placeholder while the engine is laid."""
