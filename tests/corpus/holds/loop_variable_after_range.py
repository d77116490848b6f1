# expect: holds
"""A range that cannot be empty leaves its last number in the variable."""

from mazurka.model import Int

last: Int[0, 9] = 0


def main():
    global last
    for j in range(4):
        last = j
    assert j == 3
    for k in range(5, 0, -2):
        last = k
    assert k == 1
    t: Int[0, 99] = 0
    for k in range(3):
        if k == 1:
            continue
        t += k
    else:
        t += 10
    assert t == 12 and k == 2


threads = [main()]
