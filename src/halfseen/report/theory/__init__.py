"""The figures of the theory."""
