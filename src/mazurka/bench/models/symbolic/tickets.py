"""A ticket lock whose tickets are numbers of 32 bits, for customers who come again and again.

Drawing a ticket is one indivisible step.  With -D INDIVISIBLE=0 two customers may draw the same,
and be served at the same time.
"""

from mazurka.model import Int, fetch_add

INDIVISIBLE = 1
CUSTOMERS = 2
MOST = 4294967295

next_ticket: Int[0, MOST] = 0
now_serving: Int[0, MOST] = 0
inside: Int[0, CUSTOMERS] = 0


def customer():
    global next_ticket, now_serving
    while next_ticket < MOST - CUSTOMERS:
        if INDIVISIBLE:
            ticket = fetch_add(next_ticket, 1)
        else:
            ticket = next_ticket
            next_ticket = ticket + 1
        while now_serving != ticket:
            pass
        assert fetch_add(inside, 1) == 0, "two customers are served at the same time"
        fetch_add(inside, -1)
        now_serving += 1


threads = [customer() for _ in range(CUSTOMERS)]
