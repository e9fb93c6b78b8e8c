"""Lower bounds on the regret and on the time to identify the best arm."""
