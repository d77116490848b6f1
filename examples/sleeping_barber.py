# expect: holds
"""The sleeping barber.

A barber sleeps until a customer comes.  A customer who finds a free chair sits down, wakes the
barber and waits for the call; one who finds no chair goes away.  Customers come back for ever.
Nobody is cut who was not called, the chairs never overflow, and the shop never comes to a stop.
"""

from mazurka.model import Int, Mutex, Semaphore

CHAIRS = 1
CUSTOMERS = 2

seats = Mutex()
waiting: Int[0, CHAIRS] = 0
customers = Semaphore(0, max=CHAIRS + 1)
called = Semaphore(0, max=CHAIRS + 1)
in_the_chair: Int[0, 2] = 0
done = Semaphore(0, max=CUSTOMERS)


def barber():
    global waiting
    while True:
        customers.acquire()
        with seats:
            waiting -= 1
        called.release()
        done.acquire()


def customer():
    global waiting, in_the_chair
    while True:
        seats.acquire()
        if waiting == CHAIRS:
            seats.release()
            continue
        waiting += 1
        seats.release()
        customers.release()
        called.acquire()
        in_the_chair += 1
        assert in_the_chair == 1, "two customers in one chair"
        in_the_chair -= 1
        done.release()


threads = [barber()] + [customer() for _ in range(CUSTOMERS)]
