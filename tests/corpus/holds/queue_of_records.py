# expect: holds
"""Frozen records travel by value, also through an array of queues."""

from dataclasses import dataclass

from mazurka.model import Array, Int, Queue


@dataclass(frozen=True)
class Order:
    item: Int[0, 3]
    amount: Int[0, 9] = 1


boxes = Array(Queue(1, Order), 2)


def giver():
    order = Order(2, 5)
    boxes[0].put(order)
    boxes[1].put(Order(3))


def taker():
    second = boxes[1].get()
    first = boxes[0].get()
    assert first.item == 2 and first.amount == 5
    assert second.item == 3 and second.amount == 1


threads = [giver(), taker()]
