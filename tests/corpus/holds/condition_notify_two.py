# expect: holds
"""`notify(2)` wakes two; the gate is only looked at once it was seen closed."""

from mazurka.model import Bool, Condition

opened = Condition()
gate: Bool = False


def runner():
    with opened:
        if not gate:
            opened.wait()
        assert gate, "came through a closed gate"


def opener():
    global gate
    with opened:
        gate = True
        opened.notify(2)


threads = [runner(), runner(), opener()]
