"""The loops that simulate replications, and their recorded output."""
