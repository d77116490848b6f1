"""A workflow: an auction house brings a seller and a buyer together.

Seller and buyer send their data in any order, so the house receives from both at the same time
(two branches of a flow).  It then has the auction registered, and answers both, again in two
branches.  The workflow's variables are kept in a serializable scope.  Nothing is repeated.
"""

from mazurka.model import Int, Mutex, Queue, choose, join, spawn

CARDS = 2
UNKNOWN = 0

to_house_from_seller = Queue(1, Int[1, CARDS])
to_house_from_buyer = Queue(1, Int[1, CARDS])
to_registry = Queue(1, Int[1, CARDS])
to_house_from_registry = Queue(1, Int[1, 2 * CARDS])
to_seller = Queue(1, Int[1, 2 * CARDS])
to_buyer = Queue(1, Int[1, 2 * CARDS])

scope = Mutex()
seller_card: Int[UNKNOWN, CARDS] = UNKNOWN
buyer_card: Int[UNKNOWN, CARDS] = UNKNOWN
parties: Int[0, 2] = 0
registration: Int[UNKNOWN, 2 * CARDS] = UNKNOWN


def receive_seller():
    global seller_card, parties
    card = to_house_from_seller.get()
    with scope:
        seller_card = card
        parties += 1


def receive_buyer():
    global buyer_card, parties
    card = to_house_from_buyer.get()
    with scope:
        buyer_card = card
        parties += 1


def answer_seller():
    with scope:
        number = registration
    to_seller.put(number)


def answer_buyer():
    with scope:
        number = registration
    to_buyer.put(number)


def house():
    global registration
    first, second = spawn(receive_seller), spawn(receive_buyer)
    join(first)
    join(second)
    with scope:
        assert parties == 2, "the auction goes on without one of the parties"
        assert seller_card != UNKNOWN, "the seller's card is missing"
        assert buyer_card != UNKNOWN, "the buyer's card is missing"
        card = seller_card
    to_registry.put(card)
    number = to_house_from_registry.get()
    with scope:
        registration = number
    third, fourth = spawn(answer_seller), spawn(answer_buyer)
    join(third)
    join(fourth)


def registry():
    card = to_registry.get()
    to_house_from_registry.put(CARDS + card)


def seller():
    card = choose(range(1, CARDS + 1))
    to_house_from_seller.put(card)
    number = to_seller.get()
    assert number == CARDS + card, "the seller is told another auction's number"


def buyer():
    to_house_from_buyer.put(choose(range(1, CARDS + 1)))
    number = to_buyer.get()
    assert number > CARDS, "the buyer is told a number that the registry did not give"


threads = [house(), registry(), seller(), buyer()]
