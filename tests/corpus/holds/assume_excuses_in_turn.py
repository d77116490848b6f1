# expect: holds
"""A wait is excused also where the one who could end it waits for a stopped thread itself.

The first thread would release `a` behind its assumption; then the second would release `b`, for
which the third waits.
"""

from mazurka.model import Bool, Mutex, Semaphore, assume

a, b = Mutex(), Mutex()
begun = Semaphore(0)
never: Bool = False


def stops():
    with a:
        begun.release()
        assume(never)


def in_between():
    begun.acquire()
    with b:
        begun.release()
        with a:
            pass


def at_the_end():
    begun.acquire()
    with b:
        begun.release()


threads = [stops(), in_between(), at_the_end()]
