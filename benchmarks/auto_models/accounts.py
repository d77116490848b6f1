"""Transfers between accounts, each with a lock; locks are taken in order."""

from mazurka.model import Array, Int, Mutex

N = 4
ROUNDS = 1

locks = Array(Mutex, N)
money = Array(Int[0, 9], N, [3 for _ in range(N)])


def transfer(me):
    first, second = me, (me + 1) % N
    if first > second:
        first, second = second, first
    for _ in range(ROUNDS):
        with locks[first], locks[second]:
            if money[me] > 0:
                a = money[me]
                b = money[(me + 1) % N]
                money[me] = a - 1
                money[(me + 1) % N] = b + 1


threads = [transfer(i) for i in range(N)]
