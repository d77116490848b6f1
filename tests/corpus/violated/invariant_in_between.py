# expect: violated assert "invariant violated: sum(balance) == 4 (balance[0] is 1, balance[1] is 2)"
"""Under the lock the sum is wrong for a moment.  No thread sees it; the invariant does."""

from mazurka.model import Array, Int, Mutex, invariant, protected_by

lock = Mutex()
balance = Array(Int[0, 4], 2, [2, 2])

protected_by(lock, balance)
invariant(sum(balance) == 4)


def transfer(amount):
    with lock:
        balance[0] -= amount
        balance[1] += amount


threads = [transfer(1)]
