"""Statements about means that hold at every round and every stopping time at once."""
