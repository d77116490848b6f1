# expect: holds
"""Records of numbers, truth values, arrays and locks, alone and in an array."""

from dataclasses import dataclass

from mazurka.model import Array, Bool, Int, Mutex


@dataclass
class Slot:
    lock: Mutex
    values: Array(Int[0, 3], 2)
    used: Bool = False
    count: Int[0, 4] = 1


table = Array(Slot, 2)
spare = Slot(used=True, count=2)


def fill(i):
    slot = table[i]
    with slot.lock:
        slot.values[1] = i + 1
        slot.used = True
        slot.count += 1


def look():
    for i in range(2):
        with table[i].lock:
            if table[i].used:
                assert table[i].values[1] == i + 1
                assert table[i].values[0] == 0
                assert table[i].count == 2
    assert spare.used and spare.count == 2


threads = [fill(0), fill(1), look()]
