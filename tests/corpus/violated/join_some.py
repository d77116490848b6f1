# expect: violated assert
"""Joining a slice of the threads leaves one out."""

import threading

from mazurka.model import Int

n: Int[0, 9] = 0
lock = threading.Lock()


def w(k):
    global n
    with lock:
        n += k


def main():
    workers = [threading.Thread(target=w, args=(i,)) for i in range(3)]
    for t in workers:
        t.start()
    for t in workers[:2]:
        t.join()
    assert n == 3


if __name__ == "__main__":
    main()
