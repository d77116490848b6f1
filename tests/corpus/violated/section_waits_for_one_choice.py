# expect: violated assert "took the other choice"
"""A section chooses between waiting and not waiting; another thread ends the wait.

A reduction that goes on with the choice that is possible, because nobody can interfere with it,
would never let the other thread end the wait first.
"""

from mazurka.model import Int, Semaphore, assume, atomic, choose

s = Semaphore(0)
begun: Int[0, 1] = 0
own: Int[0, 2] = 0


def chooser():
    global begun, own
    begun = 1
    with atomic():
        if choose(False, True):
            s.acquire()
            waited = True
        else:
            own = 1
            waited = False
    assert not waited, "took the other choice"


def other():
    global own
    assume(begun == 1)
    s.release()
    if begun == 0:  # never, but the analyses do not know
        own = 2


threads = [chooser(), other()]
