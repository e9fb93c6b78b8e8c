"""The decision service: one event log per loop, folded into live agents."""
