# expect: violated range
"""Numbers do not wrap around."""

from mazurka.model import Int

big: Int[0, 4611686018427387903] = 4611686018427387903


def grow():
    global big
    big = big + 1


threads = [grow()]
