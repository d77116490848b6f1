# expect: holds
"""`threading.Event` with and without a timeout."""

import threading

from mazurka.model import Int

go = threading.Event()
value: Int[0, 5] = 0


def runner():
    go.wait()
    assert value == 5


def impatient():
    if go.wait(timeout=0.5):
        assert value == 5


threads = [threading.Thread(target=runner), threading.Thread(target=impatient)]
for thread in threads:
    thread.start()
value = 5
go.set()
for thread in threads:
    thread.join()
