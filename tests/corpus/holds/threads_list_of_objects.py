# expect: holds
"""`threads` may also be an ordinary list of Thread objects."""

import threading

flags = [0, 0]


def f(i):
    flags[i] = 1


threads = []
for i in range(2):
    t = threading.Thread(target=f, args=(i,))
    threads.append(t)
for t in threads:
    t.start()
for t in threads:
    t.join()
assert flags[0] == 1 and flags[1] == 1
