"""Puts this folder on the path, so that the tests of all rooms can share its programs."""
