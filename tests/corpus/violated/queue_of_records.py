# expect: violated assert
"""Two workers take orders; the record that the first one gets may be either."""

from dataclasses import dataclass

from mazurka.model import Int, Queue


@dataclass(frozen=True)
class Order:
    item: Int[0, 3]
    amount: Int[0, 9]


orders = Queue(maxsize=2)


def giver():
    orders.put(Order(1, 4))
    orders.put(Order(2, 6))


def taker(expected):
    order = orders.get()
    assert order.amount == 2 * order.item + 2
    assert order.item == expected, "the other worker was faster"


threads = [giver(), taker(1), taker(2)]
