"""Two-phase commit: participants vote, the coordinator decides, all do the same."""

from mazurka.model import Array, Int, choose

N = 4
NONE, YES, NO = 0, 1, 2

vote = Array(Int[0, 2], N)
decision: Int[0, 2] = 0
done = Array(Int[0, 2], N)


def coordinator():
    global decision
    answer = YES
    for i in range(N):
        while vote[i] == NONE:
            pass
        if vote[i] == NO:
            answer = NO
    decision = answer


def participant(me):
    mine = choose(YES, NO)
    vote[me] = mine
    if mine == NO:
        done[me] = NO
    else:
        while decision == NONE:
            pass
        done[me] = decision
        assert not (done[me] == YES and vote[(me + 1) % N] == NO), "a vote was ignored"


threads = [coordinator()] + [participant(i) for i in range(N)]
