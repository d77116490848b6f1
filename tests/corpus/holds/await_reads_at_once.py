# expect: holds
"""A condition over two variables is evaluated in one step: their sum is 1 at any moment."""

from mazurka.model import Int, atomic, await_

x: Int[0, 1] = 0
y: Int[0, 1] = 1


def swap_them():
    global x, y
    with atomic():
        x, y = y, x


def wait():
    await_(x + y == 1)


threads = [swap_them(), wait()]
