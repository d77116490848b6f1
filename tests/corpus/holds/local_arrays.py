# expect: holds
"""Arrays made in a function belong to the call."""

from mazurka.model import Array, Int

results = Array(Int[0, 9], 2)


def work(i):
    own = Array(Int[0, 9], 3)
    for k in range(3):
        own[k] = i + k
    total: Int[0, 20] = 0
    for k in range(3):
        total += own[k]
    assert total == 3 * i + 3
    results[i] = total


threads = [work(0), work(1)]
