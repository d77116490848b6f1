"""Iteration: steps of loops, iterators that the program holds, and the order of sets."""
