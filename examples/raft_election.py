# expect: holds
"""Leader election as in Raft (Ongaro and Ousterhout, 2014): at most one leader in a term.

A server polls its inbox.  While nothing is there, its timeout may end: then it begins a new term,
votes for itself, and asks all others for their votes.  A server votes once in a term.  Whoever has
the votes of more than half of the servers leads in that term.  Servers may crash at any moment.

With `-D FORGET=1` a server does not remember that it has voted: two leaders in one term.
With four servers this takes some seconds; `-D TERMS=2` lets elections follow each other.
"""

from mazurka.model import Array, Int, Queue, choose

N = 3
TERMS = 1
FORGET = 0
ASK, VOTE = 0, 1
FOLLOWER, CANDIDATE, LEADER = 0, 1, 2
NOBODY = N

ROOM = 2 * (N - 1) * TERMS  # so many messages at most are sent to a server
inbox = [Queue(ROOM, (Int[ASK, VOTE], Int[1, TERMS], Int[0, N - 1])) for _ in range(N)]
leaders = Array(Int[0, 1], TERMS + 1)  # how many there have been, in each term


def server(me):
    role: Int[FOLLOWER, LEADER] = FOLLOWER
    term: Int[0, TERMS] = 0
    voted_for: Int[0, N] = NOBODY
    votes: Int[0, N] = 0
    while True:
        if not inbox[me].empty():
            kind, stamp, sender = inbox[me].get()
            if stamp > term:
                term = stamp
                role = FOLLOWER
                voted_for = NOBODY
            if stamp < term:
                continue
            if kind == ASK and role == FOLLOWER and (voted_for == NOBODY or FORGET):
                voted_for = sender
                inbox[sender].put((VOTE, term, me))
            elif kind == VOTE and role == CANDIDATE:
                votes += 1
                if 2 * votes > N:
                    role = LEADER
                    assert leaders[term] == 0, "two leaders in one term"
                    leaders[term] = 1
        elif choose(False, True):
            break
        elif role != LEADER and term < TERMS:
            term += 1
            role = CANDIDATE
            voted_for = me
            votes = 1
            for other in range(N):
                if other != me:
                    inbox[other].put((ASK, term, me))


threads = [server(i) for i in range(N)]
