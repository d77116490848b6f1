# expect: violated hang "spinner and spinner#2 go round loops for ever"
"""Threads that spin for ever are no deadlock, but a hang."""

from mazurka.model import Bool

never: Bool = False


def spinner():
    while not never:
        pass


threads = [spinner(), spinner()]
