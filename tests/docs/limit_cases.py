"""Small models that are refused, or pass a bound; `docs/limits.md` shows the message of each."""

from __future__ import annotations

THREADS = "threads = [f()]\n"
IMPORTS = "import queue\nimport threading\nfrom mazurka.model import *\n"


def body(*lines: str, before: str = "") -> str:
    """A model whose only thread runs these lines."""
    inner = "".join(f"    {line}\n" for line in lines)
    return f"{IMPORTS}{before}def f():\n{inner}{THREADS}"


LOCK = "m = Mutex()\n"
QUEUE = "q = Queue(1)\n"
OTHER = "def g(): pass\n"
SHARED = (
    "m = Mutex()\ns = Semaphore(1)\nr = RWLock()\nlocks = Array(Mutex, 3)\n"
    "N = 2\nx: Int[0, 1] = 0\na = Array(Int[0, 1], 2)\n"
)

NOTE = (
    "from dataclasses import dataclass\n@dataclass(frozen=True)\nclass Note:\n    kind: Int[0, 1]\n"
)

REFUSED = {
    "changing item": body("q.put(Box(1))", before=QUEUE + "class Box:\n    n: Int[0, 1]\n"),
    "number among tuples": body("q.put(1)", before="q = Queue(1, (Int, Int))\n"),
    "tuple among numbers": body("q.put(1)", "q.put((1, 2))", before=QUEUE),
    "tuple in a tuple": body("q.put((1, (2, 3)))", before=QUEUE),
    "kinds of select": body("select(q, r)", before="q, r = Queue(1), Queue(1, (Int, Int))\n"),
    "select of a lock": body("select(m)", before=LOCK),
    "size of a channel": body("c.qsize()", before="c = Channel()\n"),
    "frozen field": body("note = Note(0)", "note.kind = 1", before=NOTE),
    "division": body("x = 1 / 2"),
    "float": body("x = 0.5"),
    "large number": body("x = 99999999999999999999"),
    "overflow": body("y = 1", "while y < 2 ** 62:", "    y = y * 3"),
    "no range": body("global x", "while True:", "    x += 1", before="x = 0\n"),
    "expression alone": body("x == 1", before="x: Int[0, 1] = 0\n"),
    "star on the left": body("first, *rest = (1, 2, 3)"),
    "annotation": body("x: float = 1"),
    "unknown name in an annotation": "x: Int[0, 5] = 0\ndef f(): pass\n" + THREADS,
    "result with a range": body("g()", before="def g() -> Int[0, 5]: return 1\n"),
    "hidden shared variable": body("x = 1", before="x: Int[0, 5] = 0\n"),
    "defined later": THREADS + "def f(): pass\n",
    "default that is not known": body("g()", before="y = 0\ny = choose(1, 2)\ndef g(a=y): pass\n"),
    "defined twice": body("g()", before=OTHER + OTHER),
    "other list": "def f(): pass\nthread = [f(), f()]\n",
    "calls in a list": body("xs = [g()]", before=OTHER),
    "threads in a function": body("threads = [g()]", before="def g(): return 1\n"),
    "below the list": (
        "x = 1\nP = 0\ndef f(): print(x)\nthreads = [f()]\nx = 2\nif P:\n    threads += [f()]\n"
    ),
    "method of threads": "def f(): pass\nthreads = [f()]\nthreads.append(f())\n",
    "method in threads": IMPORTS + "b = Barrier(2)\nthreads = [b.wait(), b.wait()]\n",
    "unknown condition": body("pass", before="if choose(0, 1):\n    def g(): pass\n"),
    "growing list": body("x = len(items)", before="items = []\n"),
    "None at first": body("global c", "c = 1", before="c = None\n"),
    "module string": body("pass", before="s = 'hello'\n"),
    "string": body("x = 'a' + 'b'"),
    "f-string": body("x = f'a'"),
    "dictionary": body("x = {}"),
    "slice of an Array": body("y = a[1:]", before="a = Array(Int[0, 3], 3)\n"),
    "changed slice": body("y = z[1:]", "y[0] = 9", before="z = [1, 2, 3]\n"),
    "tuple": body("assert (x == 1, 'message')", before="x: Int[0, 1] = 0\n"),
    "wait in atomic": body(
        "with atomic():", "    with c:", "        c.wait()", before="c = Condition()\n"
    ),
    "compared lists": body("assert [1, 2] == [1, 2]"),
    "compared identities": body(
        "assert Note(1) == Note(1)",
        before=NOTE.replace("frozen=True", "frozen=True, eq=False"),
    ),
    "rendezvous in atomic": body("with atomic():", "    c.put(1)", before="c = Channel(Int)\n"),
    "barrier in atomic": body("with atomic():", "    b.wait()", before="b = Barrier(2)\n"),
    "except": body("try:", "    pass", "except ValueError:", "    pass"),
    "raise": body("raise ValueError"),
    "inner function": body("def g(): pass"),
    "lambda": body("g = lambda: 1", "x = g()"),
    "async": body("pass", before="async def g(): pass\n"),
    "yield": body("yield 1"),
    "match": body("match 1:", "    case 1: pass"),
    "with as": body("with m as x: pass", before=LOCK),
    "import": body("pass", before="import os\n"),
    "inheritance": body("pass", before="class A(int):\n    x: Int[0, 1]\na = A()\n"),
    "decorator": body("g()", before="@once\ndef g(): pass\n"),
    "replaced object": body("a[0] = Mutex()", before="a = Array(Mutex, 2)\n"),
    "changed type": body("x = 1", "x = m", before=LOCK),
    "no value": body("if choose(0, 1):", "    x = 1", "y = x"),
    "length": body("n = choose(1, 2)", "a = Array(Int, n)"),
    "object in a loop": body("while True:", "    a = Array(Int[0, 1], 2)", "    b = a"),
    "tuples of different lengths": body("t = (0, 1)", "while t[0]:", "    t = (0, 1, 2)"),
    "tuples of tuples in several ways": body(
        "t = (0, 1)", "both = (t, t)", "while choose(0, 1):", "    both = (t, t)"
    ),
    "identity of a value": body("m = Note(0)", "n = m", "assert m is n", before=NOTE),
    "append": body("x = []", "if choose(0, 1):", "    x.append(spawn(g))", before=OTHER),
    "put without waiting": body("q.put(1, block=False)", before=QUEUE),
    "priority queue": body("pass", before="q = queue.PriorityQueue()\n"),
    "barrier reset": body("b.reset()", before="b = Barrier(2)\n"),
    "join timeout": body(
        "t = threading.Thread(target=g)", "t.start()", "t.join(timeout=1)", before=OTHER
    ),
    "daemon": body("t = threading.Thread(target=g, daemon=True)", before=OTHER),
    "choose in atomic": body("with atomic():", "    while choose(0, 1): pass"),
    "no threads": "threads = []\n",
    "declaration in a function": body("protected_by(m, x)", before=SHARED),
    "declaration of an expression": body("pass", before=SHARED + "unshared(x + 1)\n"),
    "declaration of a constant": body("pass", before=SHARED + "protected_by(m, N)\n"),
    "declaration of a lock": body("pass", before=SHARED + "unshared(m)\n"),
    "declaration of a changing place": body(
        "global x", "x = 1", before=SHARED + "unshared(a[x])\n"
    ),
    "declaration out of range": body("pass", before=SHARED + "unshared(a[2])\n"),
    "invariant in a function": body("invariant(x < 2)", before=SHARED),
    "invariant that writes": body(
        "g()", before=SHARED + "def g():\n    global x\n    x = 1\ninvariant(not g())\n"
    ),
    "invariant of a thread": body("pass", before=OTHER + "h = spawn(g)\ninvariant(h is None)\n"),
    "protection by a semaphore": body("pass", before=SHARED + "protected_by(s, a)\n"),
    "protection by a read-write lock": body("pass", before=SHARED + "protected_by(r, a)\n"),
    "protection by too many locks": body("pass", before=SHARED + "protected_by(locks, a)\n"),
    "declared twice": body(
        "global x", "x = 1", before=SHARED + "unshared(x)\nprotected_by(m, x)\n"
    ),
    "large array": body("a[0] = 1", before="a = Array(Int[0, 1], 100_001)\n"),
    "long list": body("a[0] = 1", before="a = [i for i in range(1001)]\n"),
}

INCONCLUSIVE = {
    "recursion": body("x = g(9)", before="def g(n):\n    return 0 if n == 0 else g(n - 1)\n"),
    "recursive lock": body("while True:", "    m.acquire()", before="m = Mutex(recursive=True)\n"),
    "threads": body("while True:", "    spawn(g)", before=OTHER),
    "semaphore": body("while True:", "    s.release()", before="s = Semaphore(0)\n"),
    "queue": body("while True:", "    q.put(1)", before="q = Queue()\n"),
    "unfinished tasks": body(
        *("q.put(1)", "q.get()", "q.task_done()", "q.join()"),
        *("while True:", "    q.put(1)", "    q.get()"),
        before=QUEUE,
    ),
    "atomic section": body(
        *("global x", "with atomic():", "    for i in range(70_000):", "        x += 1"),
        before="x: Int[0, 70_000] = 0\n",
    ),
}
