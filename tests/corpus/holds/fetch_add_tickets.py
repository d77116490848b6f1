# expect: holds
"""`fetch_add` on an element gives everybody a ticket of their own."""

from mazurka.model import Array, Bool, Int, fetch_add

counters = Array(Int[0, 3], 2)
taken = Array(Bool, 3)


def customer():
    ticket = fetch_add(counters[1], 1)
    assert not taken[ticket], "a ticket was given out twice"
    taken[ticket] = True


threads = [customer(), customer(), customer()]
