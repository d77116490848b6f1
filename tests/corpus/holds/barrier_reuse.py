# expect: holds
"""A barrier can be used again: nobody is ever a full round ahead."""

from mazurka.model import Array, Barrier, Int

ROUNDS = 3
meeting = Barrier(2)
rounds = Array(Int[0, ROUNDS], 2)


def runner(me):
    for done in range(ROUNDS):
        rounds[me] = done + 1
        meeting.wait()
        assert rounds[1 - me] >= done + 1, "the other has not come this far"
        assert rounds[1 - me] <= done + 2


threads = [runner(0), runner(1)]
