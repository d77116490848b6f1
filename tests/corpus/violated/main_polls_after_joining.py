# expect: violated hang
"""Main starts and joins threads that are alike, and then waits for what nobody will write."""

import threading

x = 0
done = False


def worker():
    global x
    x = 1


def main():
    workers = [threading.Thread(target=worker) for _ in range(3)]
    for each in workers:
        each.start()
    for each in workers:
        each.join()
    while not done:
        pass


main()
