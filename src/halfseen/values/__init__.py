"""The value of a policy from a log in which rewards are missing."""
