# expect: holds
"""One call wakes everybody who waits."""

from mazurka.model import Bool, Condition, Mutex

lock = Mutex()
opened = Condition(lock)
gate: Bool = False


def runner():
    with opened:
        while not gate:
            opened.wait()


def opener():
    global gate
    with lock:
        gate = True
        opened.notify_all()


threads = [runner(), runner(), opener()]
