# expect: inconclusive
"""A semaphore that is released for ever passes the bound of the analysis."""

from mazurka.model import Semaphore

tokens = Semaphore(0)


def giver():
    while True:
        tokens.release()


threads = [giver()]
