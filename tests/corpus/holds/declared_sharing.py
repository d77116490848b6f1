# expect: holds
# check: --property assert,deadlock,race
"""Declarations of how data are shared change nothing, whether they are right or wrong.

Most are right here.  `late` is declared to be protected by a lock that nobody takes for it; main
reads it after the join, so nothing goes wrong.
"""

import threading

from mazurka.model import Array, Int, protected_by, unshared


class Account:
    def __init__(self):
        self.lock = threading.Lock()
        self.balance = 0


lock = threading.Lock()
changed = threading.Condition(lock)
locks = [threading.Lock() for _ in range(2)]
slots = Array(Int[0, 2], 2)
accounts = [Account() for _ in range(2)]
counter: Int[0, 2] = 0
own = Array(Int[0, 1], 2)
late: Int[0, 1] = 0

protected_by(changed, counter)
protected_by(locks, slots)
protected_by([account.lock for account in accounts], accounts)
unshared(own)
protected_by(locks[0], late)


def worker(i):
    global counter, late
    with lock:
        counter += 1
    with locks[1 - i]:
        slots[1 - i] = i
    with accounts[i].lock:
        accounts[i].balance = 1
    own[i] = 1
    if i == 0:
        late = 1


workers = [threading.Thread(target=worker, args=(i,)) for i in range(2)]
for thread in workers:
    thread.start()
for thread in workers:
    thread.join()
assert counter == 2 and late == 1
assert slots[0] == 1 and slots[1] == 0
