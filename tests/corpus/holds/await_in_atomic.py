# expect: holds
"""A section waits as a whole: it is a semaphore here, and nobody sees half of it."""

from mazurka.model import Int, atomic, await_

free: Int[0, 1] = 1
inside: Int[0, 2] = 0


def worker():
    global free, inside
    with atomic():
        inside += 1
        await_(free > 0)
        free -= 1
    assert inside == 1
    with atomic():
        inside -= 1
        free += 1


threads = [worker(), worker(), worker()]
