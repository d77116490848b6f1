# expect: holds
"""Nothing is said of waits for a thread that would fail behind its assumption."""

from mazurka.model import Bool, Mutex, assume

m = Mutex()
never: Bool = False


def fails():
    with m:
        assume(never)
        assert 2 + 2 == 5


def waits():
    with m:
        pass


threads = [fails(), waits()]
