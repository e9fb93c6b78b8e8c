"""Off-policy evaluation from a log with missing rewards."""
