"""Numerical routines that numba can compile, independent of the engine."""
