# expect: holds
"""A thread that spins for ever is no deadlock."""

from mazurka.model import Bool

never: Bool = False


def spinner():
    while not never:
        pass


threads = [spinner(), spinner()]
