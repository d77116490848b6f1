# expect: holds
"""A thread gets the values its arguments have when it is made, not when it starts."""

import threading

from mazurka.model import Int

x: Int[0, 5] = 1
seen: Int[0, 5] = 0


def work(value):
    global seen
    seen = value


def main():
    global x
    thread = threading.Thread(target=work, args=(x,))
    x = 3
    thread.start()
    thread.join()
    assert seen == 1


main()
