# expect: violated deadlock "1 thread waits for ever"
"""A section that waits for two things at once takes neither as long as one is missing."""

from mazurka.model import Array, Int, atomic, await_

forks = Array(Int[0, 1], 2, [1, 1])


def eats():
    with atomic():
        await_(forks[0] and forks[1])
        forks[0] = 0
        forks[1] = 0


threads = [eats(), eats()]
