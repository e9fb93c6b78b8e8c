"""Interactive pages on the theory, computed by the library itself."""
