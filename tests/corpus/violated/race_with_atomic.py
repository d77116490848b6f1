# expect: violated race
# check: --property race
"""One side is atomic, the other is not: still a race."""

from mazurka.model import Int, fetch_add

n: Int[0, 2] = 0


def polite():
    fetch_add(n, 1)


def rude():
    global n
    n = 0


threads = [polite(), rude()]
