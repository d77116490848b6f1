"""Happens-before as sets of bits."""

from __future__ import annotations

from mazurka.stateless.reduction.actions import Action
from mazurka.stateless.reduction.trace import EventOrder, bits, up_to


def act(thread: int, reads: str = "", writes: str = "") -> Action:
    return Action(thread, thread, frozenset(reads), frozenset(writes))


def run(*actions: Action) -> EventOrder:
    trace = EventOrder()
    for action in actions:
        trace.push(action)
    return trace


def test_order_of_a_thread_and_of_conflicts() -> None:
    trace = run(act(0, writes="x"), act(1, writes="y"), act(1, reads="x"), act(2, reads="y"))
    assert [sorted(bits(before)) for before in trace.before] == [[0], [1], [0, 1, 2], [1, 3]]


def test_a_write_comes_after_all_reads_since_the_last_write() -> None:
    reads = [act(thread, reads="x") for thread in (1, 2, 3)]
    trace = run(act(0, writes="x"), *reads, act(4, writes="x"))
    assert [trace.before[i].bit_count() for i in range(5)] == [1, 2, 2, 2, 5]


def test_pop_undoes_push() -> None:
    trace = run(act(0, writes="x"), act(1, reads="x"))
    trace.pop()
    trace.push(act(1, reads="y"))
    trace.push(act(2, writes="x"))
    assert trace.before[1] == 0b10
    assert trace.before[2] == 0b101  # nobody reads x any more


def test_past_of_a_thread_up_to_a_position() -> None:
    trace = run(act(0, writes="x"), act(1, reads="x"), act(0, writes="y"), act(1, reads="y"))
    assert trace.past(1) == 0b1111
    assert trace.past(1, end=3) == 0b11
    assert trace.past(1, end=1) == 0
    assert trace.past(7) == 0


def test_conflicts_are_with_other_threads() -> None:
    trace = run(act(0, writes="x"), act(1, reads="x"), act(2, reads="x"), act(2, writes="z"))
    assert trace.conflicting(act(2, reads="x")) == 0b0001
    assert trace.conflicting(act(2, writes="x")) == 0b0011
    assert trace.conflicting(act(3, writes="x")) == 0b0111
    assert trace.conflicting(act(3, writes="x"), end=2) == 0b0011


def test_maximal_leaves_out_what_happens_before_another() -> None:
    trace = run(act(0, writes="x"), act(1, reads="x"), act(2, reads="x"))
    assert list(trace.maximal(0b111)) == [2, 1]
    assert list(trace.maximal(0b001)) == [0]


def test_after() -> None:
    trace = run(act(0, writes="x"), act(1, writes="y"), act(2, reads="x"), act(2, reads="y"))
    assert trace.after(0) == 0b1101
    assert trace.after(1) == 0b1010
    assert up_to(3) == 0b111
