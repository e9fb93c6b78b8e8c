"""How small the regret, or the time to find the best arm, can be."""
