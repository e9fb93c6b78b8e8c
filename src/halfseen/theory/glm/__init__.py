"""The theory of generalized linear bandits."""
