# expect: violated deadlock
"""An event that is set and cleared before somebody looks."""

from mazurka.model import Event

signal = Event()


def flash():
    signal.set()
    signal.clear()


def waiter():
    signal.wait()


threads = [flash(), waiter()]
