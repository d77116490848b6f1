# expect: holds
"""`threading.Barrier` for three, the main thread among them."""

import threading

from mazurka.model import Array, Int

meeting = threading.Barrier(3)
marks = Array(Int[0, 1], 2)


def worker(i):
    marks[i] = 1
    meeting.wait()


for i in range(2):
    threading.Thread(target=worker, args=(i,)).start()
meeting.wait()
assert marks[0] == 1 and marks[1] == 1
