# expect: holds
"""A wait is excused if a thread that the stopped one would start could end it."""

from mazurka.model import Bool, Event, assume, spawn

ready = Event()
never: Bool = False


def helper():
    ready.set()


def stops():
    assume(never)
    spawn(helper)


def waits():
    ready.wait()


threads = [stops(), waits()]
