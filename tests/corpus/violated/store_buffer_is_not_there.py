# expect: violated assert "somebody was first"
"""Each writes its flag and reads the other's: under sequential consistency one at least sees it.

The assertion claims the opposite, that somebody sees nothing; it fails where both see both.
"""

from mazurka.model import Array, Bool

flags = Array(Bool, 2)
seen = Array(Bool, 2)


def thread(me):
    flags[me] = True
    seen[me] = flags[1 - me]


def judge():
    assert not (seen[0] and seen[1]), "somebody was first"


threads = [thread(0), thread(1), judge()]
