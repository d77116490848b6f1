"""Rewriting the instructions of code without source."""
