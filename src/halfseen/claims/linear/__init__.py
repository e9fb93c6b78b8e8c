"""Claims about linear bandits."""
