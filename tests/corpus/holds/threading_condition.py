# expect: holds
# check: --property assert,deadlock,race
"""A one-place buffer with `threading.Condition`."""

import threading

from mazurka.model import Int

condition = threading.Condition()
place: Int[0, 2] = 0


def producer():
    global place
    for item in (1, 2):
        with condition:
            condition.wait_for(lambda: place == 0)
            place = item
            condition.notify()


def consumer():
    global place
    for expected in (1, 2):
        with condition:
            while place == 0:
                condition.wait()
            assert place == expected
            place = 0
            condition.notify()


def main():
    crew = [threading.Thread(target=producer), threading.Thread(target=consumer)]
    for thread in crew:
        thread.start()
    for thread in crew:
        thread.join()


main()
