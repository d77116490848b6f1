"""Searches of more states than memory holds: on disk, or as a few bits each."""
