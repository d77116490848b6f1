# expect: violated assert "invariant violated: limit > 0 (limit is 0)"
"""The statements of `main` are steps: the invariant looks before them, too."""

import threading

from mazurka.model import Int, invariant

limit: Int[0, 2] = 0
invariant(limit > 0)


def worker():
    assert limit == 2


limit = 2
thread = threading.Thread(target=worker)
thread.start()
thread.join()
