# expect: violated assert "came back without news"
"""A wait with a timeout may come back although nothing happened."""

from mazurka.model import Bool, Condition

changed = Condition()
ready: Bool = False


def hasty():
    with changed:
        if not ready:
            changed.wait(timeout=5)
        assert ready, "came back without news"


def giver():
    global ready
    with changed:
        ready = True
        changed.notify()


threads = [hasty(), giver()]
