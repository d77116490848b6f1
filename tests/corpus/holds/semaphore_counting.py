# expect: holds
"""A semaphore of 2 lets two of three threads in, never three."""

from mazurka.model import Int, Semaphore, fetch_add

places = Semaphore(2)
inside: Int[0, 3] = 0


def guest():
    with places:
        fetch_add(inside, 1)
        assert inside <= 2, "three guests on two places"
        fetch_add(inside, -1)


threads = [guest(), guest(), guest()]
