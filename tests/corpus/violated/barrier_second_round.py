# expect: violated deadlock
"""One thread comes to the barrier once more than the other."""

from mazurka.model import Barrier

meeting = Barrier(2)


def guest(times):
    for _ in range(times):
        meeting.wait()


threads = [guest(1), guest(2)]
