# expect: violated deadlock
"""A barrier for three, and two threads."""

from mazurka.model import Barrier

meeting = Barrier(3)


def guest():
    meeting.wait()


threads = [guest(), guest()]
