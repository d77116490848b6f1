# expect: violated deadlock
"""One item that means stop, for two consumers."""

import queue
import threading

q = queue.Queue()


def producer():
    q.put(1)
    q.put(0)


def consumer():
    while True:
        item = q.get()
        if item == 0:
            return


threading.Thread(target=producer).start()
for _ in range(2):
    threading.Thread(target=consumer).start()
