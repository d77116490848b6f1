"""Measurements against other tools: `mazurka bench`."""
