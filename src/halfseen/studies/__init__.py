"""From a spec to a stored result."""
