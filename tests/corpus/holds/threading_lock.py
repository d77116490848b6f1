# expect: holds
# check: --property assert,deadlock,race
"""A `threading.Lock` belongs to nobody: another thread may release it."""

import threading

from mazurka.model import Int

baton = threading.Lock()
value: Int[0, 1] = 0


def second():
    baton.acquire()
    assert value == 1


def main():
    global value
    baton.acquire()
    runner = threading.Thread(target=second)
    helper = threading.Thread(target=baton_release)
    runner.start()
    value = 1
    helper.start()
    runner.join()
    helper.join()


def baton_release():
    baton.release()


if __name__ == "__main__":
    main()
