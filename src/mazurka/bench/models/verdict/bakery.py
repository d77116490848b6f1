"""Lamport's bakery without the flags that say who is choosing a number: it fails."""

from mazurka.model import Array, Int, assume, atomic

N = 3
ROUNDS = 2

number = Array(Int[0, N * ROUNDS], N)
inside: Int[0, N] = 0


def customer(me):
    global inside
    for _ in range(ROUNDS):
        top = 0
        for other in range(N):
            seen = number[other]
            if seen > top:
                top = seen
        number[me] = top + 1
        for other in range(N):
            with atomic():
                theirs = number[other]
                mine = number[me]
                assume(theirs == 0 or theirs > mine or (theirs == mine and other >= me))
        inside += 1
        assert inside == 1, "two customers are served at once"
        inside -= 1
        number[me] = 0


threads = [customer(i) for i in range(N)]
