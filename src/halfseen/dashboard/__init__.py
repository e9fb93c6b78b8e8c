"""The dashboard: HTML pages on the loops of a service."""
