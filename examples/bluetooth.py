# expect: violated assert "the driver has stopped"
"""The stopping flag of a Bluetooth driver (the example of KISS, Qadeer and Wu, 2004).

Requests count themselves in `pending`; whoever brings it to 0 raises `stopped`.  A request first
looks whether the driver is being stopped, and counts itself afterwards.  Between the look and
the count, the driver may stop altogether, and the request then works with a driver that is gone.

`-D FIXED=1` counts first and looks afterwards, which is correct.
"""

from mazurka.model import Bool, Event, Int, atomic

FIXED = 0
REQUESTS = 1

pending: Int[0, REQUESTS + 1] = 1  # the driver itself counts as one
stopping: Bool = False
stopped: Bool = False
quiet = Event()


def leave():
    global pending
    with atomic():
        pending -= 1
        last = pending == 0
    if last:
        quiet.set()


def enter():
    global pending
    if FIXED:
        with atomic():
            pending += 1
        if stopping:
            leave()
            return False
        return True
    if stopping:
        return False
    with atomic():
        pending += 1
    return True


def request():
    if enter():
        assert not stopped, "the driver has stopped"
        leave()


def stop():
    global stopping, stopped
    stopping = True
    leave()
    quiet.wait()
    stopped = True


threads = [request() for _ in range(REQUESTS)] + [stop()]
