"""Temporal formulas in the symbolic engine: runs as a circuit, and the back ends' questions."""
