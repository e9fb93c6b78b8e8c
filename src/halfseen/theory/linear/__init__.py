"""The theory of linear bandits."""
