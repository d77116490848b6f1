# expect: violated race
# check: --property race
"""Reading without the lock that protects the writing."""

import threading

from mazurka.model import Int

lock = threading.Lock()
value: Int[0, 5] = 0


def writer():
    global value
    with lock:
        value = 5


def main():
    thread = threading.Thread(target=writer)
    thread.start()
    seen = value
    thread.join()
    assert seen <= 5


main()
