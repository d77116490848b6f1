# expect: violated deadlock
"""A wake-up call that nobody hears.

The waiter looks at `ready` *before* it takes the lock.  If the news comes between the look and
the wait, `notify` finds nobody waiting and does nothing; conditions remember nothing.  The waiter
then waits for a call that has already been made.
"""

import threading

condition = threading.Condition()
ready = False


def announce():
    global ready
    with condition:
        ready = True
        condition.notify()


def wait_until_ready():
    if not ready:
        with condition:
            condition.wait()


def main():
    waiter = threading.Thread(target=wait_until_ready)
    announcer = threading.Thread(target=announce)
    waiter.start()
    announcer.start()
    waiter.join()
    announcer.join()


if __name__ == "__main__":
    main()
