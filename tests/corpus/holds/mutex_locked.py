# expect: holds
"""`locked()` tells whether anybody holds the lock; the holder always sees True."""

from mazurka.model import Mutex

lock = Mutex()


def visitor():
    with lock:
        assert lock.locked(), "I hold it"


threads = [visitor(), visitor()]
