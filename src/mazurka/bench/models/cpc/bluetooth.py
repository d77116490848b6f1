"""The Bluetooth driver of KISS (Qadeer and Wu, 2004) with its stopping race repaired, abstracted.

Requests count themselves in `pending`, look whether the driver is being stopped, and do their
work; whoever brings the count to 0 signals the thread that stops the driver.  Counting comes
before looking; the original does it the other way round.  The counter is changed by interlocked
operations.  The request list is guarded by a spin lock.  Loops end sooner or later.
"""

from mazurka.model import Bool, Event, Int, Mutex, choose, fetch_add

REQUESTS = 3

pending: Int[0, REQUESTS + 1] = 1  # the driver itself counts as one
stopping: Bool = False
stopped: Bool = False
no_more = Event()

spin_lock = Mutex()
queued: Int[0, REQUESTS] = 0


def some_steps():
    """Two nested loops whose conditions the abstraction does not know."""
    while choose(False, True):
        while choose(False, True):
            pass


def leave():
    if fetch_add(pending, -1) == 1:
        no_more.set()


def enter():
    fetch_add(pending, 1)
    if stopping:
        leave()
        return False
    return True


def transfer():
    """Queue the request, work on it, take it out again."""
    global queued
    with spin_lock:
        some_steps()
        queued += 1
    some_steps()
    assert not stopped, "a request works with a driver that has stopped"
    some_steps()
    with spin_lock:
        some_steps()
        queued -= 1


def request():
    if enter():
        transfer()
        leave()
    some_steps()


def stop():
    global stopping, stopped
    stopping = True
    some_steps()
    leave()
    no_more.wait()
    some_steps()
    stopped = True
    with spin_lock:
        assert queued == 0, "requests are left in the queue of a stopped driver"


threads = [request() for _ in range(REQUESTS)] + [stop()]
