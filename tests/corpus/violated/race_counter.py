# expect: violated race
# check: --property race
# states: 12
"""An increment without a lock.

Each thread is before its read (B), between read and write (R) or done (D).  BB, BR, RB, RR, BD
and DB are one state each; DR and RD are two, because the one in between has read 0 or 1; DD is
two, because the counter is 2 or 1: 6 + 2 * 2 + 2 = 12 states.
"""

from mazurka.model import Int

n: Int[0, 2] = 0


def add():
    global n
    n += 1


threads = [add(), add()]
