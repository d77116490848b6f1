# expect: violated assert "assertion failed: x == 0 (x is 2)"
"""The threads find what the statements above their list have left."""

from mazurka.model import Int

x: Int[0, 3] = 0
for k in (1, 2):
    x = k


def worker():
    assert x == 0


threads = [worker()]
