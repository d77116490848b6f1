# expect: holds
"""A recursive lock may be taken again by its holder and is free after as many releases."""

from mazurka.model import Int, Mutex

lock = Mutex(recursive=True)
n: Int[0, 4] = 0


def add():
    global n
    with lock:
        n += 1


def add_twice():
    with lock:
        before = n
        add()
        add()
        assert n == before + 2, "somebody came between"


threads = [add_twice(), add_twice()]
