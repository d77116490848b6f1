"""Goods are reserved, then bought or given back: never more is reserved than there is.

Amounts are arbitrary numbers of 32 bits, and customers come again and again.  The shop's books are
right whenever nobody holds the lock.  With -D LOCKED=0 a customer looks at the stock before taking
the lock.
"""

from mazurka.model import Int, Mutex, choose

LOCKED = 1
CUSTOMERS = 2
MOST = 4294967295

stock: Int[0, MOST] = MOST
reserved: Int[0, 2 * MOST] = 0
lock = Mutex()


def buys():
    global stock, reserved
    while True:
        amount = choose(range(MOST + 1))
        if LOCKED:
            lock.acquire()
        fits = stock - reserved >= amount
        if not LOCKED:
            lock.acquire()
        if fits:
            reserved += amount
        lock.release()
        if fits:
            paid = choose(False, True)
            with lock:
                assert reserved <= stock, "more is reserved than there is"
                reserved -= amount
                if paid:
                    stock -= amount


threads = [buys() for _ in range(CUSTOMERS)]
