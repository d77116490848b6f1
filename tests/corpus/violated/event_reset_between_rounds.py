# expect: violated deadlock
"""Clearing an event after waiting for it can wipe out the next signal."""

from mazurka.model import Event

signal = Event()
answer = Event()


def sender():
    for _ in range(2):
        signal.set()
        answer.wait()
        answer.clear()


def receiver():
    for _ in range(2):
        signal.wait()
        answer.set()
        signal.clear()  # too late: the next signal may already be there


threads = [sender(), receiver()]
