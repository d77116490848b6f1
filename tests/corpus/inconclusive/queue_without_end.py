# expect: inconclusive
"""An unbounded queue that is filled faster than it is emptied."""

import queue

box = queue.Queue()


def giver():
    while True:
        box.put(1)


def taker():
    while True:
        box.get()


threads = [giver(), taker()]
