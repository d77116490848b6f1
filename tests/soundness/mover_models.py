"""Small models, each line marked with how its steps move: what `docs/semantics.md` says of movers.

`# right`, `# left`, `# none`; a line with several kinds of step has all of them, as in
`# left, right`.  Lines without a mark are both-movers.  A thread that another one has created ends
in a step of its own, on the line of its `def`; for the others this is part of the last line.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from mazurka.analysis.laws import Mover
from mazurka.frontend.python.elaboration import elaborate
from mazurka.ir.passes.prepare import prepare
from mazurka.ir.program import Program

PRELUDE = "from mazurka.model import *; import threading\n"
MARKS = {"right": Mover.RIGHT, "left": Mover.LEFT, "none": Mover.NONE, "both": Mover.BOTH}


def program_of(source: str) -> Program:
    """Unmerged, so that each line has steps of its own."""
    return prepare(elaborate(PRELUDE + textwrap.dedent(source), "model.py"), merge=False)


def expected_movers(source: str, lines: Iterable[int]) -> dict[int, set[Mover]]:
    """By line what the marks say; `lines` are those that have steps."""
    expected = {line: {Mover.BOTH} for line in lines}
    for number, line in enumerate((PRELUDE + textwrap.dedent(source)).splitlines(), start=1):
        _, marked, marks = line.partition("  # ")
        if marked:
            expected[number] = {MARKS[mark] for mark in marks.split(", ")}
    return expected


MODELS = {
    "lock": """
        m = Mutex()
        x: Int[0, 2] = 0
        def add():
            global x
            m.acquire()  # right
            x += 1
            m.release()  # left
        threads = [add(), add()]
    """,
    "data without protection": """
        x: Int[0, 2] = 0
        def add():
            global x
            x += 1  # none
        threads = [add(), add()]
    """,
    "data never written, and data of one thread": """
        size: Int[0, 2] = 2
        mine = Array(Int[0, 2], 2)
        def count(me):
            mine[me] = size
            mine[me] -= 1
        threads = [count(0), count(1)]
    """,
    "locks that do not agree": """
        m = Mutex()
        n = Mutex()
        x: Int[0, 1] = 0
        y: Int[0, 1] = 0
        def one():
            global x, y
            with m:  # right, left
                x = 1  # none
                y = 1
        def other():
            global x, y
            with n:  # right, left
                x = 0  # none
        def third():
            global y
            with m:  # right, left
                y = 0
        threads = [one(), other(), third()]
    """,
    "lock that is tried": """
        m = Mutex()
        x: Int[0, 2] = 0
        def add():
            global x
            m.acquire()  # none
            x += 1
            m.release()  # none
        def tries():
            global x
            if m.acquire(blocking=False):  # none, both
                x += 1
                m.release()  # none
        threads = [add(), tries()]
    """,
    "lock that is looked at": """
        m = Mutex()
        x: Int[0, 2] = 0
        def add():
            global x
            m.acquire()  # none
            x += 1
            m.release()  # none
        def looks():
            taken = m.locked()  # none, both
        threads = [add(), looks()]
    """,
    "lock that somebody else releases": """
        m = threading.Lock()
        e = Event()
        def holder():
            m.acquire()  # none
            e.set()  # left
            assert m.locked()  # none, both
        def other():
            e.wait()  # right
            m.release()  # none
        threads = [holder(), other()]
    """,
    "recursive lock": """
        m = Mutex(recursive=True)
        x: Int[0, 2] = 0
        def add():
            global x
            m.acquire()  # right
            m.acquire()
            x += 1
            m.release()
            m.release()  # left
        threads = [add(), add()]
    """,
    "condition": """
        changed = Condition()
        full: Bool = False
        def take():
            global full
            changed.acquire()  # right
            while not full:
                changed.wait()  # left, right
            full = False
            changed.release()  # left
        def give():
            global full
            changed.acquire()  # right
            full = True
            changed.notify()
            changed.release()  # left
        threads = [take(), give()]
    """,
    "condition whose lock is tried": """
        changed = Condition()
        full: Bool = False
        def take():
            global full
            changed.acquire()  # none
            while not full:
                changed.wait()  # none
            full = False
            changed.release()  # none
        def give():
            global full
            if changed.acquire(blocking=False):  # none, both
                full = True
                changed.notify()
                changed.release()  # none
        threads = [take(), give()]
    """,
    "semaphore": """
        s = Semaphore(1)
        x: Int[0, 2] = 0
        def use():
            s.acquire()  # right
            s.release()  # left
        threads = [use(), use()]
    """,
    "semaphore that is tried": """
        s = Semaphore(1)
        def use():
            s.acquire()  # none
            s.release()  # none
        def tries():
            if s.acquire(blocking=False):  # none, both
                s.release()  # none
        threads = [use(), tries()]
    """,
    "event": """
        e = Event()
        def sets():
            e.set()  # left
        def waits():
            e.wait()  # right
        threads = [sets(), waits()]
    """,
    "event that is cleared": """
        e = Event()
        def sets():
            e.set()  # none
        def clears():
            e.wait()  # none
            e.clear()  # none
        threads = [sets(), clears()]
    """,
    "creation and join": """
        x: Int[0, 1] = 0
        y: Int[0, 1] = 0
        def child():  # left
            global x
            x = 1
        def main():
            t = spawn(child)  # left
            join(t)  # right
        def other():
            global y
            y = 1
        threads = [main(), other()]
    """,
    "hand-over by creation and join": """
        x: Int[0, 2] = 0
        def child():  # none
            global x
            x = 2
        def main():
            global x
            x = 1
            t = spawn(child)  # left
            join(t)  # right
            x = 0  # none
        threads = [main()]
    """,
    "hand-over by semaphores": """
        empty = Semaphore(1)
        full = Semaphore(0)
        x: Int[0, 1] = 0
        def user():
            global x
            empty.acquire()  # none
            x = 1
            full.release()  # none
        def driver():
            global x
            full.acquire()  # none
            x = 0
            empty.release()  # none
        threads = [user(), driver()]
    """,
    "readers and writers": """
        lock = RWLock()
        x: Int[0, 2] = 0
        def reader():
            with lock.read():  # none
                y = x
        def writer():
            global x
            with lock.write():  # none
                x = 1
        threads = [reader(), writer()]
    """,
    "queue": """
        q = Queue(1, Int[0, 1])
        def sender():
            q.put(1)  # left
        def receiver():
            got = q.get()  # left, both
        threads = [sender(), receiver()]
    """,
    "queue without a bound": """
        q = Queue(type=Int[0, 1])
        def sender():
            q.put(1)  # left
        def receiver():
            got = q.get()
        threads = [sender(), receiver()]
    """,
    "queue with two writers": """
        q = Queue(type=Int[0, 1])
        def sender():
            q.put(1)  # none
        def receiver():
            got = q.get()
        threads = [sender(), sender(), receiver()]
    """,
    "queue with two readers": """
        q = Queue(type=Int[0, 1])
        def sender():
            q.put(1)  # left
        def receiver():
            got = q.get()  # none, both
        threads = [sender(), receiver(), receiver()]
    """,
    "queue that a third thread looks at": """
        q = Queue(2, Int[0, 1])
        def sender():
            q.put(1)  # none
        def receiver():
            got = q.get()  # none, both
        def watcher():
            length = q.qsize()  # none, both
        threads = [sender(), receiver(), watcher()]
    """,
    "queue that its writer looks at": """
        q = Queue(2, Int[0, 1])
        def sender():
            q.put(1)  # left
            length = q.qsize()  # none, both
        def receiver():
            got = q.get()  # none, both
        threads = [sender(), receiver()]
    """,
    "rendezvous channel": """
        c = Channel(Int[0, 1])
        def sender():
            c.put(1)  # left
        def receiver():
            got = c.get()  # left, both
        threads = [sender(), receiver()]
    """,
    "select": """
        q = Queue(1, Int[0, 1])
        c = Channel(Int[0, 1])
        def sender():
            q.put(1)  # left
        def other():
            c.put(1)  # left
        def receiver():
            which, got = select(q, c)  # left, both
            which, got = select(q, c)  # left, both
        threads = [sender(), other(), receiver()]
    """,
    "queues reached through a reference": """
        queues = Array(Queue(2, Int[0, 1]), 3)
        def node(me):
            left = queues[me]
            right = queues[(me + 1) % 3]
            right.put(1)  # left
            got = left.get()  # left, both
        threads = [node(0), node(1), node(2)]
    """,
    "barrier": """
        b = Barrier(2)
        def runner():
            b.wait()  # none
        threads = [runner(), runner()]
    """,
    "atomic operations": """
        m = Mutex()
        x: Int[0, 2] = 0
        y: Int[0, 2] = 0
        def add():
            fetch_add(x, 1)  # none
            m.acquire()  # right
            fetch_add(y, 1)
            m.release()  # left
        threads = [add(), add()]
    """,
}
"""By construct."""
