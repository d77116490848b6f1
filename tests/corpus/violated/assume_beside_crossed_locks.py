# expect: violated deadlock "2 threads wait for ever"
"""Two threads wait for each other, whatever the third would do behind its assumption.

It would take and release both locks, but cannot get them before the two go on.
"""

from mazurka.model import Bool, Mutex, assume

a, b = Mutex(), Mutex()
never: Bool = False


def crossed(first, second):
    with first:
        with second:
            pass


def stops():
    assume(never)
    with a:
        with b:
            pass


threads = [crossed(a, b), crossed(b, a), stops()]
