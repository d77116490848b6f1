# expect: holds
"""`queue.Queue` between Python threads, with `task_done` and `join`."""

import queue
import threading

from mazurka.model import Int, fetch_add

tasks = queue.Queue(maxsize=1)
total: Int[0, 3] = 0


def worker():
    while True:
        task = tasks.get()
        fetch_add(total, task)
        tasks.task_done()
        if task == 0:
            break


def main():
    helper = threading.Thread(target=worker)
    helper.start()
    tasks.put(1)
    tasks.put(2)
    tasks.join()
    assert total == 3
    tasks.put(0)
    helper.join()


main()
