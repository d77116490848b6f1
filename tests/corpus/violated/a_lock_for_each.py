# expect: violated assert
"""Each thread has a lock of its own, which protects nothing."""

import threading

from mazurka.model import Int

total: Int[0, 4] = 0


def work(lock):
    global total
    with lock:
        total += 1


def main():
    a = threading.Thread(target=work, args=(threading.Lock(),))
    b = threading.Thread(target=work, args=(threading.Lock(),))
    a.start()
    b.start()
    a.join()
    b.join()
    assert total == 2


main()
