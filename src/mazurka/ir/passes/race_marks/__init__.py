"""Data races as faults: marks that declare an access, and accesses that look for marks."""
