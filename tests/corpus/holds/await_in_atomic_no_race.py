# expect: holds
# check: --property race
"""Inside `atomic()` waiting for a variable does not race with an atomic write."""

from mazurka.model import Int, atomic, await_

ready: Int[0, 2] = 1


def wait():
    with atomic():
        await_(ready > 0)


def signal():
    global ready
    with atomic():
        ready = 2


threads = [wait(), signal()]
