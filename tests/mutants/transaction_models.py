"""Models that can fail, each in a way that one mistake in a search by transactions would lose.

The comment says what must not be lost.  Figures of paper 000 come from `tests/papers`, and models
that are also checked from end to end from `tests/corpus`.
"""

from __future__ import annotations

import textwrap
from pathlib import Path

from mazurka.checking import load_program
from mazurka.frontend.python.elaboration import elaborate
from mazurka.ir.passes.prepare import prepare
from mazurka.ir.program import Program
from mazurka.search.reading import Reading

FIGURES = Path(__file__).parent.parent / "papers" / "transactions"
CORPUS = Path(__file__).parent.parent / "corpus" / "violated"
PRELUDE = "from mazurka.model import *\nimport threading\n"


def program_of(name: str) -> Program:
    """A figure, a model of the corpus or of this file, with all local steps."""
    for folder in (FIGURES, CORPUS):
        path = folder / f"{name}.py"
        if path.exists():
            return load_program(str(path), Reading(merge=False))
    return prepare(elaborate(PRELUDE + textwrap.dedent(MODELS[name]), name), merge=False)


MODELS = {
    # What the first thread did becomes visible when it releases the lock.
    "seen after the release": """
        m = Mutex()
        x: Int[0, 1] = 0
        def writer():
            global x
            with m:
                x = 1
        def reader():
            with m:
                assert x == 0
        threads = [writer(), reader()]
    """,
    # The second thread runs between the first one's writing of y and its taking the lock.
    "comes before the acquisition": """
        m = Mutex()
        x: Int[0, 1] = 0
        y: Int[0, 1] = 0
        def first():
            global y
            y = 1
            with m:
                assert x == 0
        def second():
            global x
            seen = y
            with m:
                x = seen
        threads = [first(), second()]
    """,
    # x is 1 for a moment only, and nothing protects it.
    "for a moment": """
        x: Int[0, 1] = 0
        def writer():
            global x
            x = 1
            x = 0
        def reader():
            assert x == 0
        threads = [writer(), reader()]
    """,
    # The same, and who looks at x cannot go on until then.
    "waits for a moment": """
        m = Mutex()
        x: Int[0, 1] = 0
        def writer():
            global x
            with m:
                x = 1
                x = 0
        def waiter():
            assume(x == 1)
            assert False
        threads = [writer(), waiter()]
    """,
    # The child still runs when its creator reads x; nobody joins.
    "does not join": """
        x: Int[0, 2] = 0
        go: Int[0, 1] = 0
        def child():
            global x, go
            x = 1
            go = 1
            x = 2
        def main():
            global x
            x = 0
            spawn(child)
            assume(go == 1)
            assert x == 2
        threads = [main()]
    """,
    # The reader's entering has nothing to do with the writer's leaving.
    "not handed over": """
        s = Semaphore(1)
        e = Event()
        x: Int[0, 1] = 0
        def writer():
            global x
            s.acquire()
            x = 1
            x = 0
            s.release()
        def reader():
            e.wait()
            assert x == 0
        def third():
            e.set()
        threads = [writer(), reader(), third()]
    """,
    # Trying fails while the other thread holds the lock, and it holds it for nothing else.
    "tries a lock": """
        m = Mutex()
        def holder():
            m.acquire()
            m.release()
        def trier():
            assert m.acquire(blocking=False)
        threads = [holder(), trier()]
    """,
    # The lock is given away while x is 1.
    "released by another": """
        m = threading.Lock()
        e = Event()
        x: Int[0, 1] = 0
        def holder():
            global x
            m.acquire()
            e.set()
            x = 1
            x = 0
        def other():
            e.wait()
            m.release()
        def reader():
            m.acquire()
            assert x == 0
        threads = [holder(), other(), reader()]
    """,
    # A deadlock; each thread does something of its own before it waits for ever.
    "deadlock": """
        a = Mutex()
        b = Mutex()
        own = Array(Bool, 2)
        def one():
            a.acquire()
            own[0] = True
            with b:
                a.release()
        def other():
            b.acquire()
            own[1] = True
            with a:
                b.release()
        threads = [one(), other()]
    """,
    # The sender goes round for ever after its put; the receiver must run all the same.
    "seen after the put": """
        q = Queue(1, Int[0, 1])
        def sender():
            q.put(1)
            while True:
                yield_()
        def receiver():
            got = q.get()
            assert got == 0
        threads = [sender(), receiver()]
    """,
    # The receiver goes round for ever after its get, which makes room for the second put.
    "makes room for another": """
        q = Queue(1, Int[0, 1])
        def sender():
            q.put(0)
            q.put(1)
            assert False
        def receiver():
            got = q.get()
            while True:
                yield_()
        threads = [sender(), receiver()]
    """,
    # The other writer may be faster.
    "two writers": """
        q = Queue(2, Int[0, 1])
        begun: Int[0, 1] = 0
        def first():
            global begun
            begun = 1
            q.put(0)
        def second():
            assume(begun == 1)
            q.put(1)
        def receiver():
            got = q.get()
            assert got == 0
        threads = [first(), second(), receiver()]
    """,
    # The other reader may be faster.
    "two readers": """
        q = Queue(2, Int[0, 1])
        filled: Int[0, 1] = 0
        begun: Int[0, 1] = 0
        def sender():
            global filled
            q.put(0)
            q.put(1)
            filled = 1
        def first():
            global begun
            assume(filled == 1)
            begun = 1
            got = q.get()
            assert got == 0
        def second():
            assume(begun == 1)
            q.get()
        threads = [sender(), first(), second()]
    """,
    # A third thread sees the queue before the put.
    "looks at a queue": """
        q = Queue(1, Int[0, 1])
        begun: Int[0, 1] = 0
        def sender():
            global begun
            begun = 1
            q.put(1)
        def watcher():
            assume(begun == 1)
            assert q.qsize() == 1
        threads = [sender(), watcher()]
    """,
    # The second queue gets its item while the receiver could take one from the first.
    "selects another queue": """
        q = Queue(1, Int[0, 1])
        r = Queue(1, Int[0, 1])
        begun: Int[0, 1] = 0
        def sender():
            q.put(0)
            assume(begun == 1)
            r.put(1)
        def receiver():
            global begun
            await_(not q.empty())
            begun = 1
            which, got = select(q, r)
            assert which == 0
        threads = [sender(), receiver()]
    """,
    # Two commit points, from which local steps lead to one and the same state.
    "two ways to one end": """
        g: Int[0, 1] = 0
        own: Bool = False
        def one():
            global g, own
            if choose(False, True):
                g = 1
                own = True
            else:
                g = 1
                own = True
            own = False
        def other():
            global g
            g = 0
        threads = [one(), other()]
    """,
}
