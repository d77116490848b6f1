# expect: holds
"""The arguments of a thread are evaluated when it is made, not when it starts."""

import threading

got = 0


def f(v):
    global got
    got = v


x = 3
t = threading.Thread(target=f, args=(x,))
x = 5
t.start()
t.join()
assert got == 3
