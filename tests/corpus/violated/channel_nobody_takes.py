# expect: violated deadlock
"""Two threads that both hand over before they take."""

from mazurka.model import Channel

there, back = Channel(), Channel()


def worker(mine, other):
    mine.put((1, 2))
    other.get()


threads = [worker(there, back), worker(back, there)]
