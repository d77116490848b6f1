# expect: inconclusive
# check: --max-threads 3
"""A loop that makes threads for ever passes any limit."""

from mazurka.model import Bool, spawn

flag: Bool = False


def child():
    global flag
    flag = True


def parent():
    while True:
        spawn(child)


threads = [parent()]
