# expect: holds
"""The `threads` list may call methods."""

from mazurka.model import Int, Mutex


class Acc:
    balance: Int[0, 9] = 5
    lock: Mutex

    def take(self, n):
        with self.lock:
            if self.balance >= n:
                self.balance -= n


acc = Acc()
threads = [acc.take(3), acc.take(4)]
