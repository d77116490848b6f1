"""AIGER 1.9: circuits for other model checkers, and the witnesses that these write."""
