"""A workflow: a shipping service ships an order at once or in parts, and sends notices.

How many items are at hand is not part of the description; the warehouse proposes numbers until
one of them fits, which is the only loop that may go on for ever.
"""

from mazurka.model import Int, Mutex, Queue, choose

ITEMS = 4
DONE = 0

orders = Queue(1, Int[1, ITEMS])
requests = Queue(1, Int[0, ITEMS])
packages = Queue(1, Int[1, ITEMS])
notices = Queue(2, Int[0, ITEMS])

ledger = Mutex()
shipped: Int[0, ITEMS] = 0


def customer():
    ordered = choose(range(1, ITEMS + 1))
    orders.put(ordered)
    received = 0
    notice = notices.get()
    while notice != DONE:
        received += notice
        assert received <= ordered, "more was shipped than ordered"
        notice = notices.get()
    assert received == ordered, "the order was not completed"


def warehouse():
    wanted = requests.get()
    while wanted != DONE:
        at_hand = choose(range(1, ITEMS + 1))
        while at_hand > wanted:
            at_hand = choose(range(1, ITEMS + 1))
        packages.put(at_hand)
        wanted = requests.get()


def ship(count):
    """Ask the warehouse, enter what comes in the books, tell the customer."""
    global shipped
    requests.put(count)
    package = packages.get()
    with ledger:
        shipped += package
    notices.put(package)
    return package


def service():
    missing = orders.get()
    while missing > 0:
        missing -= ship(missing)
    requests.put(DONE)
    notices.put(DONE)


def auditor():
    """Looks into the books at any time."""
    with ledger:
        before = shipped
    with ledger:
        assert before <= shipped, "something was taken out of the books"


threads = [customer(), warehouse(), service(), auditor()]
