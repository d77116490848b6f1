# expect: holds
"""Four threads at a barrier for two leave in pairs; nobody is left over."""

from mazurka.model import Barrier, Int, fetch_add

meeting = Barrier(2)
left: Int[0, 4] = 0


def guest():
    meeting.wait()
    fetch_add(left, 1)


threads = [guest() for _ in range(4)]
