"""The theory of arms."""
