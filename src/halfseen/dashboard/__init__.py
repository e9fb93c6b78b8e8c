"""The dashboard: what the loops of a service decide, see and miss, as pages."""
