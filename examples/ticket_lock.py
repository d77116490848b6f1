# expect: holds
"""A ticket lock: draw a ticket in one indivisible step, wait until it is called.

`fetch_add` makes the difference: with a plain `next_ticket += 1` two customers could draw the
same ticket, and would be served at the same time.

Each customer comes ROUNDS times, so that the tickets end somewhere.
"""

from mazurka.model import Int, fetch_add

N = 3
ROUNDS = 2

next_ticket: Int[0, N * ROUNDS] = 0
now_serving: Int[0, N * ROUNDS] = 0
served: Int[0, N * ROUNDS] = 0


def customer():
    global now_serving, served
    for _ in range(ROUNDS):
        ticket = fetch_add(next_ticket, 1)
        while now_serving != ticket:
            pass
        served = ticket
        assert served == ticket, "two customers are served at the same time"
        now_serving += 1


threads = [customer() for _ in range(N)]
