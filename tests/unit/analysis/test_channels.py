"""Which queues are channels, and what each step uses of their ends."""

from __future__ import annotations

from mazurka.analysis.channels import Channels, End, Form, TwoEndedQueue, find_channels
from mazurka.frontend.python.elaboration import elaborate
from mazurka.ir.passes.prepare import prepare
from mazurka.ir.program import Kind, Program


def read(text: str) -> Program:
    return prepare(elaborate("from mazurka.model import *\n" + text, "model.py"))


def only_channel(channels: Channels) -> TwoEndedQueue:
    (channel,) = channels.channels.values()
    return channel


def place_of(program: Program, thread: int, kind: Kind) -> tuple[int, int]:
    """The position of a thread's first edge of a kind, and where it begins."""
    edges = program.threads[thread].edges
    position = next(n for n, edge in enumerate(edges) if edge.kind is kind)
    return position, edges[position].source


PAIR = """
q = Queue(maxsize=2)
def writer():
    for n in range(3):
        q.put(n)
def reader():
    for n in range(3):
        assert q.get() == n
threads = [writer(), reader()]
"""


def test_put_and_get_use_one_end_each() -> None:
    program = read(PAIR)
    channels = find_channels(program)
    channel = only_channel(channels)
    for thread, kind, end in ((0, Kind.PUT, End.PUTTING), (1, Kind.GET, End.GETTING)):
        position, place = place_of(program, thread, kind)
        used = channels.taking(thread, position)
        assert used.reads == used.writes == channel.at(end)
        assert channels.attempting(thread, place).reads == 0
        assert channels.waiting(thread, place).reads == channel.at(end.other)


def test_a_queue_without_a_bound_is_a_channel_unless_somebody_looks() -> None:
    text = PAIR.replace("maxsize=2", "")
    assert len(find_channels(read(text)).channels) == 1
    looked_at = text.replace("q.put(n)", "q.put(n)\n        assert q.qsize() < 9")
    assert not find_channels(read(looked_at)).channels


def test_looking_reads_both_ends() -> None:
    program = read(PAIR.replace("q.put(n)", "q.put(n)\n        assert q.qsize() < 9"))
    channels = find_channels(program)
    position, _ = place_of(program, 0, Kind.INSPECT)
    used = channels.taking(0, position)
    assert (used.reads, used.writes) == (only_channel(channels).both, 0)


def test_a_queue_that_gives_the_newest_item_first_is_no_channel() -> None:
    assert not find_channels(read(PAIR.replace("Queue", "LifoQueue"))).channels


def test_a_section_that_does_more_uses_both_ends() -> None:
    section = "with atomic():\n            q.put(n)\n            q.put(n)"
    program = read(PAIR.replace("q.put(n)", section).replace("maxsize=2", "maxsize=9"))
    channels = find_channels(program)
    position, _ = place_of(program, 0, Kind.PUT)
    used = channels.taking(0, position)
    assert used.reads == used.writes == only_channel(channels).both


def test_queues_in_an_array_are_told_apart_as_far_as_indices_are_known() -> None:
    program = read("""
queues = [Queue(maxsize=2) for _ in range(2)]
def writer(n):
    queues[n].put(1)
def reader():
    queues[choose(0, 1)].get()
threads = [writer(0), writer(1), reader()]
""")
    channels = find_channels(program)
    first, second = channels.channels.values()
    ends = [channels.taking(n, place_of(program, n, Kind.PUT)[0]).writes for n in (0, 1)]
    assert ends == [first.at(End.PUTTING), second.at(End.PUTTING)]
    got = channels.taking(2, place_of(program, 2, Kind.GET)[0])
    assert got.writes == first.at(End.GETTING) | second.at(End.GETTING)


def test_tuples_records_and_channels_have_two_ends() -> None:
    program = read("""
from dataclasses import dataclass
@dataclass(frozen=True)
class Note:
    kind: Int[0, 1]
    value: Int[0, 9]
pairs, notes, meeting = Queue(2, (Int, Int)), Queue(1, Note), Channel(Note)
def writer():
    pairs.put((1, 2))
    notes.put(Note(1, 2))
    meeting.put(Note(0, 3))
def reader():
    a, b = pairs.get()
    note = notes.get()
    assert a + b == note.value + 1
    meeting.get()
threads = [writer(), reader()]
""")
    forms = [channel.form for channel in find_channels(program).channels.values()]
    assert forms == [Form(2, 2), Form(1, 2), Form(0, 2)]


def test_a_select_reads_the_putting_ends() -> None:
    program = read("""
left, right = Queue(1, Int[0, 1]), Queue(1, Int[0, 1])
def sender(box):
    box.put(1)
def receiver():
    select(left, right)
threads = [sender(left), sender(right), receiver()]
""")
    channels = find_channels(program)
    ends = {end: sum(channel.at(end) for channel in channels.channels.values()) for end in End}
    place = program.threads[2].entry
    assert channels.attempting(2, place).reads == ends[End.PUTTING]
    positions = [n for n, e in enumerate(program.threads[2].edges) if e.kind is Kind.GET]
    taken = [channels.taking(2, position).writes for position in positions]
    assert sum(taken) == ends[End.GETTING]
