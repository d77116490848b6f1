# expect: inconclusive
"""Recursion goes deeper than the analysis provides for (`--max-depth`)."""

from mazurka.model import Int

n: Int[0, 20] = 0


def down(level):
    global n
    n = level
    if n < 12:
        down(level + 1)


threads = [down(0)]
