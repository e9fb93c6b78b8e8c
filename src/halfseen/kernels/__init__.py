"""Numerics that numba can compile and that know no engine."""
