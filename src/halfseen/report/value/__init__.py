"""The page of a policy's value."""
