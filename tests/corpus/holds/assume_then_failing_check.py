# expect: holds
"""What stands behind a check that always fails counts: the lock would be released."""

from mazurka.model import Bool, Int, Mutex, assume

m = Mutex()
never: Bool = False
x: Int[0, 1] = 0


def fails():
    with m:
        assume(never)
        assert x == 2


def waits():
    with m:
        pass


threads = [fails(), waits()]
