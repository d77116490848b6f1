# expect: violated deadlock
"""`notify` where `notify_all` is needed."""

from mazurka.model import Bool, Condition

opened = Condition()
gate: Bool = False


def runner():
    with opened:
        while not gate:
            opened.wait()


def opener():
    global gate
    with opened:
        gate = True
        opened.notify()


threads = [runner(), runner(), opener()]
