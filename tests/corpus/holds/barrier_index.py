# expect: holds
"""Each thread gets its own number at a barrier."""

from mazurka.model import Array, Barrier, Bool

meeting = Barrier(3)
taken = Array(Bool, 3)


def guest():
    place = meeting.wait()
    assert 0 <= place < 3
    assert not taken[place], "two threads got the same number"
    taken[place] = True


threads = [guest(), guest(), guest()]
