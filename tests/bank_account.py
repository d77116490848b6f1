"""The beginning of test files that tests write: an account, and two threads that use it."""

from __future__ import annotations

ACCOUNT = """\
class Account:
    def __init__(self):
        self.balance = 0
        self.lock = threading.Lock()

    def deposit(self):
        self.balance += 1

    def deposit_safely(self):
        with self.lock:
            self.balance += 1


def twice(target):
    threads = [threading.Thread(target=target) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""
