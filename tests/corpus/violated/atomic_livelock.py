# expect: violated livelock
"""An atomic section that never ends: nobody else can raise the flag it looks at."""

from mazurka.model import Bool, atomic

flag: Bool = False


def worker():
    with atomic():
        while not flag:
            pass


threads = [worker()]
