# expect: violated assert "changed in between"
"""A condition over two shared variables is read piece by piece."""

from mazurka.model import Int

a: Int[0, 1] = 0
b: Int[0, 1] = 1


def mover():
    global a, b
    b = 0
    a = 1


def looker():
    assert a + b <= 1, "never two"
    assert a == 0 or b == 0
    assert b == 1 or a == 1, "changed in between"


threads = [mover(), looker()]
