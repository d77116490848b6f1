# expect: violated deadlock
"""Dining philosophers that can starve together.

N philosophers sit around a table with one fork between each two.  Everyone picks up the left
fork, then the right one.  If all pick up the left one at the same time, nobody will ever eat:
the counterexample shows each philosopher holding one fork and waiting for the next.

Try more of them with `-D N=7`.  `philosophers_ordered.py` and `philosophers_waiter.py` are two
ways out.
"""

from mazurka.model import Array, Mutex

N = 4

forks = Array(Mutex, N)


def philosopher(i):
    left, right = forks[i], forks[(i + 1) % N]
    while True:
        with left:
            with right:
                pass  # eat


threads = [philosopher(i) for i in range(N)]
