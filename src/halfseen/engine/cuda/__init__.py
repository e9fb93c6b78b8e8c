"""The cuda engine."""
