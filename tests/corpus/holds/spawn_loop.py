# expect: holds
"""Threads made in a loop, with arguments that vary, and joined later."""

from mazurka.model import Int, fetch_add, spawn

total: Int[0, 6] = 0


def add(amount):
    fetch_add(total, amount)


def main():
    workers = [spawn(add, i) for i in range(1, 4)]
    for worker in workers:
        worker.join()
    assert total == 6


threads = [main()]
