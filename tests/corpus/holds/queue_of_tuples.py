# expect: holds
"""A message has a kind and a value, each with a range of its own."""

from mazurka.model import Int, Queue

DATA, END = 0, 1

box = Queue(2, (Int[DATA, END], Int[0, 3]))


def giver():
    for number in range(3):
        box.put((DATA, number + 1))
    box.put((END, 0))


def taker():
    expected = 1
    while True:
        kind, value = box.get()
        if kind == END:
            break
        assert value == expected
        expected += 1
    assert expected == 4


threads = [giver(), taker()]
