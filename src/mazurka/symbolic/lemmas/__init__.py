"""Invariants that are guessed from reached states, and kept as far as they are inductive."""
