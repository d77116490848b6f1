"""Explorations: search, guard, minimization, replay, races, several processes."""
