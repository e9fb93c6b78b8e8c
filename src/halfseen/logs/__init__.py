"""Logs of decisions whose rewards are partly missing: read them, audit them, plan with them."""
