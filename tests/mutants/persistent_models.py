"""Small programs with one violation each, which a search with unsound persistent sets misses."""

from __future__ import annotations

from collections.abc import Callable

from mazurka.frontend.python.elaboration import elaborate
from mazurka.ir import queues
from mazurka.ir.expressions import ONE, ZERO, Binary, Const
from mazurka.ir.passes.prepare import prepare
from mazurka.ir.program import FINISHED, FIRST_LOCATION, Check, Fault, Kind, Program
from tests.unit.ir.programs import Builder, equals, load, put

PRELUDE = """\
import threading
from mazurka.model import *
x: Int[0, 1] = 0
y: Int[0, 1] = 0
flag: Int[0, 1] = 0
k: Int[0, 1] = 0
m = threading.Lock()
locks = [Mutex() for _ in range(2)]
"""

GUARD_IS_A_READ = """
def first():
    global x
    x = 1
def second():
    assume(x == 0)
    assert False, "got through before"
"""

WAITS_FOR_A_THIRD = """
def first():
    global y
    y = 1
def second():
    assume(x == 1)
    assert y == 1, "before the first thread"
def third():
    global x
    x = 1
"""

RELEASED_BY_ANOTHER = """
def first():
    global flag, x
    m.acquire()
    flag = 1
    x = 1
def second():
    assume(flag == 1)
    m.release()
    m.acquire()
    assert x == 1, "the lock was taken away"
"""

ANOTHER_LOCK = """
def first():
    global flag, k, x
    k = 1
    locks[0].acquire()
    flag = 1
    x = 1
def second():
    assume(flag == 1)
    locks[k].acquire()
    assert x == 1, "it was the other lock"
"""

TRIES_THE_LOCK = """
def first():
    global flag, x
    m.acquire()
    flag = 1
    x = 1
def second():
    assume(flag == 1)
    if not m.acquire(blocking=False):
        assert x == 1, "went on without the lock"
"""

GOES_ROUND_FOR_EVER = """
def first():
    global y
    while True:
        y = 1 - y
def second():
    assert False, "gets its turn at last"
"""

NEVER_ENDS = """
def first():
    with atomic():
        while x == 0:
            pass
def second():
    assert False, "gets its turn all the same"
"""

TWO_GO_ROUND_FOR_EVER = """
def first():
    global x
    while True:
        x = 1 - x
def second():
    global y
    while True:
        y = 1 - y
def third():
    assert False, "gets its turn after both"
"""

GETS_FROM_AN_EMPTY_QUEUE = """
q = Queue(maxsize=1)
def first():
    global y
    y = 1
def second():
    q.get()
    assert y == 1, "before the first thread"
def third():
    q.put(1)
"""

PUTS_INTO_A_FULL_QUEUE = """
q = Queue(maxsize=1)
def first():
    global y
    y = 1
def second():
    q.put(1)
    q.put(1)
    assert y == 1, "before the first thread"
def third():
    q.get()
"""

TWO_WRITERS = """
q = Queue(maxsize=2)
def first():
    q.put(1)
def second():
    q.put(2)
def third():
    assert q.get() == 1, "the second writer was faster"
"""

TWO_READERS = """
q = Queue(maxsize=2)
def first():
    global x
    q.put(0)
    q.put(1)
    x = q.get()
def second():
    global y
    y = q.get()
    assert y == 1, "the second reader was faster"
"""

LOOKS_AT_A_QUEUE = """
q = Queue(maxsize=2)
def first():
    q.put(1)
def second():
    assert q.qsize() == 1, "looked before the put"
"""

SELECTS_FROM_TWO = """
left, right = Queue(1, Int[0, 1]), Queue(1, Int[0, 1])
def first():
    left.put(0)
    which, item = select(left, right)
    assert which == 0, "the other queue had an item too"
def second():
    right.put(1)
"""

SELECTS_UNDER_A_CONDITION = """
left, right = Queue(1, Int[0, 1]), Queue(1, Int[0, 1])
def first():
    left.put(0)
    right.put(1)
    which, item = select(left, right if x == 1 else None)
    assert which == 0, "the condition held by then"
def second():
    global x
    x = 1
"""

MEETS_IN_A_CHANNEL = """
meeting = Channel(Int[0, 1])
def first():
    global y
    y = 1
def second():
    meeting.put(1)
    assert y == 1, "before the first thread"
def third():
    meeting.get()
"""


def started_again() -> Program:
    """A worker that has finished is started a second time, and runs into the writer."""
    builder = Builder()
    writer, worker, creator = builder.thread(), builder.thread(active=False), builder.thread()
    x, second, done = (builder.shared(name, 0, 1) for name in ("x", "second", "done"))
    before, inside = writer.at(), writer.at()
    writer.edge(before, inside, kind=Kind.ASSUME, guard=equals(second, 1))
    writer.edge(inside, FINISHED, put(x, 1))
    here, last, again = worker.at(), worker.at(), worker.at()
    worker.edge(here, last, guard=equals(second, 0))
    worker.edge(last, FINISHED, put(done, 1))
    worker.edge(here, again, guard=Binary("ne", load(second), ZERO))
    seen = Check(equals(x, 1), Fault.ASSERT, "before the writer")
    worker.edge(again, FINISHED, seen, kind=Kind.ASSERT)
    start = put(worker.counter, FIRST_LOCATION)
    places = [creator.at() for _ in range(4)]
    creator.edge(places[0], places[1], start, kind=Kind.CREATE, atomic=True)
    creator.edge(places[1], places[2], kind=Kind.ASSUME, guard=equals(done, 1))
    creator.edge(places[2], places[3], put(second, 1))
    creator.edge(places[3], FINISHED, start, kind=Kind.CREATE, atomic=True)
    return builder.program()


def observer_that_helps() -> Program:
    """A thread waits for what only an observer does, which is a deadlock."""
    builder = Builder()
    helper, waiting, other = builder.thread(observer=True), builder.thread(), builder.thread()
    x, y = builder.shared("x", 0, 1), builder.shared("y", 0, 1)
    helper.line(put(x, 1))
    waiting.edge(waiting.at(), FINISHED, kind=Kind.AWAIT, guard=equals(x, 1))
    other.line(put(y, 1))
    return builder.program()


def item_or_not() -> Program:
    """A thread takes an item if there is one, and fails if there is none."""
    builder = Builder()
    sender, receiver = builder.thread(), builder.thread()
    queue = Const(builder.shared("q", 0, 1))
    builder.shared("q.item", 0, 1)
    got = Const(receiver.local("got", 0, 1))
    room, item = queues.has_room(queue, 1), queues.has_item(queue)
    putting = queues.put_item(queue, 1, [ONE])
    sender.edge(sender.at(), FINISHED, *putting, kind=Kind.PUT, guard=room)
    here, getting = receiver.at(), queues.get_item(queue, 1, [got], [ZERO])
    receiver.edge(here, FINISHED, *getting, kind=Kind.GET, guard=item)
    receiver.edge(here, FINISHED, Check(ZERO, Fault.ASSERT, "nothing there"), kind=Kind.ASSERT)
    return builder.program()


def model(body: str) -> Callable[[], Program]:
    names = [name for name in ("first", "second", "third") if f"def {name}" in body]
    threads = ", ".join(f"{name}()" for name in names)
    return lambda: prepare(elaborate(f"{PRELUDE}{body}\nthreads = [{threads}]\n", "model.py"))


MODELS: dict[str, Callable[[], Program]] = {
    "a guard is a read": model(GUARD_IS_A_READ),
    "waits for a third": model(WAITS_FOR_A_THIRD),
    "released by another": model(RELEASED_BY_ANOTHER),
    "another lock": model(ANOTHER_LOCK),
    "tries the lock": model(TRIES_THE_LOCK),
    "goes round for ever": model(GOES_ROUND_FOR_EVER),
    "two go round for ever": model(TWO_GO_ROUND_FOR_EVER),
    "never ends": model(NEVER_ENDS),
    "gets from an empty queue": model(GETS_FROM_AN_EMPTY_QUEUE),
    "puts into a full queue": model(PUTS_INTO_A_FULL_QUEUE),
    "two writers": model(TWO_WRITERS),
    "two readers": model(TWO_READERS),
    "looks at a queue": model(LOOKS_AT_A_QUEUE),
    "selects from two queues": model(SELECTS_FROM_TWO),
    "selects under a condition": model(SELECTS_UNDER_A_CONDITION),
    "an item or not": item_or_not,
    "meets in a channel": model(MEETS_IN_A_CHANNEL),
    "started again": started_again,
    "observer that helps": observer_that_helps,
}
