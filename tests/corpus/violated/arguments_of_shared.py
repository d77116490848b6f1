# expect: violated assert "assertion failed: inside == 0"
"""Arguments that read shared data are evaluated when the threads start; both threads run."""

from mazurka.model import Int

inside: Int[0, 3] = 1
slots = [2, 3]


def worker(number):
    global inside
    assert number == 1
    inside = 0
    assert inside == 0
    inside = number


def other(slot):
    assert slot in (2, 3)
    slots[0] = 0


threads = [worker(inside), worker(inside)] + [other(slot) for slot in slots]
