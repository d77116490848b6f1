"""Explicit-state searches."""
