# expect: violated exception
"""Joining a thread that has not been started is an error in Python."""

import threading


def work():
    pass


def main():
    thread = threading.Thread(target=work)
    thread.join()


main()
