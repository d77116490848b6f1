# expect: violated livelock
"""An atomic section that never ends."""

from mazurka.model import Bool, atomic

flag: Bool = False


def worker():
    with atomic():
        while not flag:
            pass


def setter():
    global flag
    flag = True


threads = [worker(), setter()]
