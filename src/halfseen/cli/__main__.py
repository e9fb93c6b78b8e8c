"""`python -m halfseen.cli`."""

from halfseen.__main__ import main

main()
