"""`python -m halfseen.cli`."""

from halfseen.cli import main

main()
