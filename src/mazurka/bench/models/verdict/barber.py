"""The sleeping barber: customers who find all chairs taken go away, and come back."""

from mazurka.model import Int, Semaphore

CUSTOMERS = 4
CHAIRS = 2

waiting: Int[0, CHAIRS] = 0
mutex = Semaphore(1, max=1)
customers = Semaphore(0, max=CHAIRS)
barber_ready = Semaphore(0, max=CUSTOMERS)
chair: Int[0, CUSTOMERS] = 0
done = Semaphore(0, max=CUSTOMERS)


def barber():
    global waiting, chair
    while True:
        customers.acquire()
        mutex.acquire()
        waiting -= 1
        barber_ready.release()
        mutex.release()
        done.acquire()


def customer():
    global waiting, chair
    while True:
        mutex.acquire()
        if waiting < CHAIRS:
            waiting += 1
            customers.release()
            mutex.release()
            barber_ready.acquire()
            chair += 1
            assert chair == 1, "two customers sit in the barber's chair"
            chair -= 1
            done.release()
        else:
            mutex.release()


threads = [barber()] + [customer() for _ in range(CUSTOMERS)]
