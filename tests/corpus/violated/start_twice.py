# expect: violated exception
"""A thread can be started once."""

import threading


def work():
    pass


def main():
    thread = threading.Thread(target=work)
    thread.start()
    thread.start()


main()
