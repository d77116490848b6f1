# expect: holds
"""An assumption over shared data stands for waiting until it holds."""

from mazurka.model import Int, assume

turn: Int[0, 2] = 0


def player(me):
    global turn
    assume(turn == me)
    assert turn == me
    turn = me + 1


threads = [player(0), player(1)]
