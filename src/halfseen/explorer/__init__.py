"""Pages on which the theory can be played with, computed by the library itself."""
