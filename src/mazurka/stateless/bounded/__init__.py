"""Searches with a bound on preemptions: paper 001, on happens-before graphs as states."""
