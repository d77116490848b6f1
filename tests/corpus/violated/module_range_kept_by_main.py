# expect: violated range
"""The same where a choice comes before the last assignment, so that `main` makes it."""

from mazurka.model import Int, choose

limit: Int[0, 3] = 2
limit += 1
more = choose(0, 1)
limit += more


def worker(bound):
    assert bound <= 4


threads = [worker(limit)]
