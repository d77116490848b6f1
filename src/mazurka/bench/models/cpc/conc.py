"""A concurrent C program as predicate abstraction leaves it: only what is true or false remains.

Producers append to a list, a consumer takes from it, and somebody closes it.  The list is guarded
by a lock; the flag that says it is closed is read without one.  Of the list only `empty` is left,
of the loops that walk along it or work on items only that they end sooner or later.
"""

from mazurka.model import Bool, Mutex, choose

PRODUCERS = 3

lock = Mutex()
empty: Bool = True
closed: Bool = False
drained: Bool = False  # the consumer has seen the list closed and empty; guarded by the lock


def some_steps():
    """A loop whose condition the abstraction does not know."""
    while choose(False, True):
        pass


def append():
    """Append an item unless the list is closed; walks to the end of the list."""
    global empty
    with lock:
        if closed:
            return False
        some_steps()
        assert not drained, "an item is appended behind the consumer's back"
        empty = False
    return True


def producer():
    while append():
        some_steps()


def consumer():
    global empty, drained
    done = False
    while not done:
        with lock:
            if empty:
                drained = done = closed
            else:
                some_steps()
                empty = choose(False, True)
        some_steps()


def closer():
    global closed
    closed = True
    some_steps()


threads = [producer() for _ in range(PRODUCERS)] + [consumer(), closer()]
