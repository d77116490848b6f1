"""The pytest plugin: marked and decorated tests are explored instead of called.

pytest loads `plugin`, with `summary`, in every session; these import nothing of the
engine.  `fixtures` and `state` are loaded with the first test that is explored: they make each
execution begin with fresh fixtures and with nothing left in pytest from the one before.
"""
