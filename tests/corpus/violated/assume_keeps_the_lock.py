# expect: violated deadlock "1 thread waits for ever"
"""A stopped thread holds a lock that it would not release either if its assumption held."""

from mazurka.model import Int, Mutex, assume

m = Mutex()
x: Int[0, 1] = 0


def keeps():
    global x
    m.acquire()
    assume(x == 1)
    x = 0


def waits():
    with m:
        pass


threads = [keeps(), waits()]
