# expect: holds
"""A wait with a timeout comes back by itself; no notification is needed."""

from mazurka.model import Bool, Condition

changed = Condition()
ready: Bool = False


def patient():
    with changed:
        if not ready:
            changed.wait(timeout=1.0)


def late():
    global ready
    with changed:
        ready = True


threads = [patient(), late()]
