"""Two-phase commit in which the coordinator does not wait for the last vote: it fails."""

from mazurka.model import Array, Int, assume, choose

N = 6
YES, NO = 1, 2
COMMIT, ABORT = 1, 2

votes = Array(Int[0, 2], N)
decision: Int[0, 2] = 0


def participant(me):
    vote = choose(YES, NO)
    votes[me] = vote
    assume(decision != 0)
    assert decision == ABORT or vote == YES, "committed against a vote"


def coordinator():
    global decision
    agreed = True
    for other in range(N - 1):
        assume(votes[other] != 0)
        if votes[other] == NO:
            agreed = False
    decision = COMMIT if agreed else ABORT


threads = [coordinator()] + [participant(i) for i in range(N)]
