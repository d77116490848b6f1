"""Dijkstra's self-stabilizing ring: from any start there is one privilege in the end."""

from mazurka.model import Array, Int, assume, choose

N = 4
K = 4

x = Array(Int[0, K - 1], N)
ready: Int[0, 1] = 0


def first():
    global ready
    for i in range(N):
        x[i] = choose(range(K))
    ready = 1
    while True:
        if x[0] == x[N - 1]:
            x[0] = (x[0] + 1) % K


def other(me):
    assume(ready == 1)
    while True:
        before = x[me - 1]
        if x[me] != before:
            x[me] = before


threads = [first()] + [other(i) for i in range(1, N)]
