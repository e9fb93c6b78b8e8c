"""Claims about arms."""
