# expect: holds
"""A wait for an item is excused if a stopped thread would put one."""

from mazurka.model import Bool, Int, Queue, assume

q = Queue(2, Int[0, 1])
never: Bool = False


def stops():
    assume(never)
    q.put(1)


def waits():
    q.get()


threads = [stops(), waits()]
