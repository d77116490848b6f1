"""What models cannot contain: each refusal names the construct, the line and what to use."""

# ruff: noqa: E501 - a table is easier to read unbroken

from __future__ import annotations

import pytest
from tests.unit.frontend.python.model_exploration import PRELUDE

from mazurka.errors import UnsupportedError
from mazurka.frontend.python.elaboration import elaborate

LINES = PRELUDE.count("\n")

REFUSALS = [
    (
        "mutable item",
        "class Box:\n    n: Int[0, 1]\nq = Queue(1)\ndef f():\n    q.put(Box(1))\nthreads = [f()]\n",
        "a queue holds items by value, and a `Box` can change; make it `@dataclass(frozen=True)`, or put a number that stands for it",
        5,
    ),
    (
        "number among tuples",
        "q = Queue(1, (Int, Int))\ndef f():\n    q.put(1)\nthreads = [f()]\n",
        "`q` holds (Int, Int), as line 4 declares, and this puts a number; fill it up: `q.put((1, 0))`, or use a queue of its own for it",
        3,
    ),
    (
        "tuple among numbers",
        "q = Queue(1)\ndef f():\n    q.put(1)\n    q.put((1, 2))\nthreads = [f()]\n",
        "all items of a queue have one form, but line 6 puts a number (`1`) and line 7 puts a tuple of 2 (`(1, 2)`); fill up the shorter ones (line 6: `q.put((1, 0))`), or use a queue for each",
        4,
    ),
    (
        "tuples in one queue of two",
        "q = Queue(2)\nr = Queue(1)\ndef f():\n    q.put((1, 2))\n    r.put(1)\nthreads = [f()]\n",
        "the queues of this model differ, and `q` gets a tuple of 2; declare what it holds: `Queue(2, type=(Int, Int))`",
        4,
    ),
    (
        "longer tuple than declared",
        "q = Queue(1, (Int[0, 1], Int))\ndef f():\n    q.put((1, 2, 3))\nthreads = [f()]\n",
        "`q` holds (Int[0, 1], Int), as line 4 declares, and this puts a tuple of 3; put a tuple of 2, or declare what it holds: `Queue(1, (Int[0, 1], Int, Int))`",
        3,
    ),
    (
        "record among numbers",
        "from dataclasses import dataclass\n@dataclass(frozen=True)\nclass M:\n    a: Int[0, 1]\nc = Channel(Int)\ndef f():\n    c.put(M(1))\nthreads = [f()]\n",
        "`c` holds Int, as line 8 declares, and this puts a `M`; put a number, or declare what it holds: `Channel(M)`",
        7,
    ),
    (
        "record of another class",
        "from dataclasses import dataclass\n@dataclass(frozen=True)\nclass M:\n    a: Int[0, 1]\nqs = [Queue(1, M)]\ndef f():\n    qs[0].put(1)\nthreads = [f()]\n",
        "`qs[0]` holds M, and this puts a number; put a `M`, or use a queue of its own for this",
        7,
    ),
    (
        "one name for a pair of select",
        "q = Queue(1)\ndef f():\n    item = select(q)\n    assert item == 1\nthreads = [f()]\n",
        "`item` is a tuple, not a number; `select` gives the position of the queue, too: `which, item = select(q)`",
        4,
    ),
    (
        "pair of select put",
        "q = Queue(1)\ndef f():\n    item = select(q)\n    q.put(item)\nthreads = [f()]\n",
        "`item` is a tuple; `select` gives the position of the queue, too: `which, item = select(q)`",
        4,
    ),
    (
        "tuple in a tuple",
        "q = Queue(1)\ndef f():\n    q.put((1, (2, 3)))\nthreads = [f()]\n",
        "a tuple in a queue holds numbers, not a tuple",
        3,
    ),
    (
        "select of different kinds",
        "q, r = Queue(1, Int), Queue(1, (Int, Int))\ndef f():\n    select(q, r)\nthreads = [f()]\n",
        "`q` holds Int and `r` (Int, Int); `select` is for queues that hold items of one kind",
        3,
    ),
    (
        "select of a lock",
        "m = Mutex()\ndef f():\n    select(m)\nthreads = [f()]\n",
        "`select` takes queues and channels: `which, item = select(first, second)`, not an object (Mutex)",
        3,
    ),
    (
        "select of nothing",
        "def f():\n    select()\nthreads = [f()]\n",
        "`select` takes queues and channels: `which, item = select(first, second)`",
        2,
    ),
    (
        "size of a channel",
        "c = Channel()\ndef f():\n    c.qsize()\nthreads = [f()]\n",
        "`Channel.qsize` is not supported; use a Queue, which holds items",
        3,
    ),
    (
        "frozen field",
        "@dataclass(frozen=True)\nclass Note:\n    kind: Int[0, 1]\ndef f():\n    note = Note(0)\n    note.kind = 1\nthreads = [f()]\n",
        "`Note` is frozen: `note.kind` cannot be assigned",
        6,
    ),
    (
        "first value",
        "x = 1 // 0\ndef f():\n    global x\n    x = 1\nthreads = [f()]\n",
        "the first value of `x` cannot be computed (a division by zero, or a number that does not fit in 64 bits); give it a number",
        1,
    ),
    (
        "constant",
        "x = 1 // 0\ndef f():\n    y = x\nthreads = [f()]\n",
        "the first value of `x` cannot be computed (a division by zero, or a number that does not fit in 64 bits); give it a number",
        1,
    ),
    (
        "print call",
        "q = Queue(1)\ndef f():\n    print(q.get())\nthreads = [f()]\n",
        "the arguments of `print` are not evaluated, so they cannot call anything",
        3,
    ),
    (
        "shared default",
        "class A:\n    lock: Mutex = Mutex()\na = A()\ndef f(): pass\nthreads = [f()]\n",
        "all instances would share this `lock`; write `lock: Type` without a value, or `field(default_factory=Type)`",
        2,
    ),
    (
        "default object",
        "def g(m=Mutex()): pass\ndef f(): g()\nthreads = [f()]\n",
        "a default made here would be one object for all calls; make it outside",
        1,
    ),
    (
        "several targets",
        "a = b = Mutex()\ndef f(): pass\nthreads = [f()]\n",
        "write one assignment for each name here",
        1,
    ),
    (
        "daemon",
        "def f(): pass\nt = threading.Thread(target=f, daemon=True)\nt.start()\n",
        "daemon threads are not supported: one that waits for ever counts as a deadlock; leave out `daemon` and let the thread end by itself (a last item in its queue, say)",
        2,
    ),
    (
        "object in loop",
        "def f():\n    while True:\n        a = Array(Int[0, 1], 2)\n        b = a\nthreads = [f()]\n",
        "`a` is made in a loop and used under another name; make it before the loop",
        3,
    ),
    (
        "part of an object in loop",
        "def f():\n    for i in range(2):\n        grid = [[i, i], [i, i]]\n        row = grid[0]\nthreads = [f()]\n",
        "`grid` is made in a loop and used under another name; make it before the loop",
        3,
    ),
    (
        "item of a list in loop",
        "class Box:\n    def __init__(self): self.v = 0\ndef f():\n    for i in range(2):\n        boxes = [Box(), Box()]\n        for box in boxes: box.v = 1\nthreads = [f()]\n",
        "`boxes` is made in a loop and used under another name; make it before the loop",
        5,
    ),
    (
        "object for a function that returns it",
        "def g(a):\n    return a\ndef f():\n    while True:\n        b = g(Array(Int[0, 1], 2))\nthreads = [f()]\n",
        "`a` is made in a loop and used under another name; make it before the loop",
        5,
    ),
    (
        "tuples of different lengths",
        "def f():\n    t = (0, 1)\n    while t[0]:\n        t = (0, 1, 2)\nthreads = [f()]\n",
        "`t` is a tuple of 2 and of 3 items in one of several assignments; use another name for it",
        4,
    ),
    (
        "results of different lengths",
        "def g(c):\n    if c:\n        return (0, 1)\n    return (0, 1, 2)\ndef f():\n    t = g(choose(0, 1))\nthreads = [f()]\n",
        "`result of the call` changes its type to a tuple; use another name",
        4,
    ),
    (
        "records of different classes",
        "@dataclass(frozen=True)\nclass A:\n    v: int\n@dataclass(frozen=True)\nclass B:\n    v: int\ndef f():\n    r = A(0)\n    r = B(0)\nthreads = [f()]\n",
        "`r` changes its type to an object (B); use another name",
        9,
    ),
    (
        "frozen field changed in place",
        "@dataclass(frozen=True)\nclass Note:\n    kind: Int[0, 1]\ndef f():\n    note = Note(0)\n    note.kind += 1\nthreads = [f()]\n",
        "`Note` is frozen: `note.kind` cannot be assigned",
        6,
    ),
    ("div", "def f():\n    x = 1 / 2\nthreads = [f()]\n", "`/` gives a float; use `//`", 2),
    (
        "lambda",
        "def f():\n    g = lambda: 1\n    x = g()\nthreads = [f()]\n",
        "a lambda cannot be called",
        3,
    ),
    (
        "dict",
        "d = {}\ndef f(): pass\nthreads = [f()]\n",
        "models cannot contain a dictionary; use an Array",
        1,
    ),
    (
        "try",
        "def f():\n    try: pass\n    except: pass\nthreads = [f()]\n",
        "models cannot catch exceptions: one that could happen is reported as a violation; test with `if` beforehand (`try ... finally` is fine)",
        3,
    ),
    (
        "raise",
        "def f():\n    raise ValueError\nthreads = [f()]\n",
        'models cannot contain `raise`; use `assert False, "message"`',
        2,
    ),
    (
        "del",
        "def f():\n    x=1\n    del x\nthreads = [f()]\n",
        "models cannot contain `del`; variables need not be deleted",
        3,
    ),
    (
        "nested def",
        "def f():\n    def g(): pass\nthreads = [f()]\n",
        "models cannot contain a function inside a function; define it at module level",
        2,
    ),
    (
        "async",
        "async def g(): pass\ndef f(): pass\nthreads = [f()]\n",
        "models cannot contain `async def`; models are about threads, not coroutines",
        1,
    ),
    (
        "match",
        "def f():\n    match 1:\n        case 1: pass\nthreads = [f()]\n",
        "models cannot contain `match`; use if/elif/else",
        2,
    ),
    (
        "fstring",
        "def f():\n    x = f'a'\nthreads = [f()]\n",
        "models cannot contain an f-string; only the message of an `assert` may be one",
        2,
    ),
    (
        "yield",
        "def f():\n    yield 1\nthreads = [f()]\n",
        "models cannot contain `yield`; use `yield_()` to let other threads run",
        2,
    ),
    (
        "import",
        "import os\ndef f(): pass\nthreads = [f()]\n",
        "a model cannot import `os`; it may import `mazurka.model`, `threading`, `queue`, `time`, `dataclasses` and `typing`",
        1,
    ),
    (
        "import2",
        "from threading import local\ndef f(): pass\nthreads = [f()]\n",
        "`threading.local` is not part of the model language; docs/models.md lists what there is",
        1,
    ),
    (
        "import3",
        "from mazurka.model import Mutx\ndef f(): pass\nthreads = [f()]\n",
        "`mazurka.model.Mutx` is not part of the model language; did you mean `mazurka.model.Mutex`?",
        1,
    ),
    ("undefined", "def f():\n    x = y\nthreads = [f()]\n", "the name `y` is not defined", 2),
    (
        "unbound",
        "def f():\n    if choose(0,1):\n        x = 1\n    y = x\nthreads = [f()]\n",
        "`x` may have no value here; assign it on every path that leads here",
        4,
    ),
    (
        "empty threads",
        "def f(): pass\nthreads = []\n",
        "`threads` is empty; write for example `threads = [worker(i) for i in range(2)]`",
        2,
    ),
    (
        "no threads",
        "def f(): pass\n",
        "the model has no threads; add `threads = [worker(i) for i in range(2)]`",
        1,
    ),
    (
        "threads not list",
        "def f(): pass\nthreads = f()\n",
        "`threads` must be a list; add `threads = [worker(i) for i in range(2)]`",
        2,
    ),
    (
        "threads num",
        "threads = [1]\n",
        "`threads` must be a list of calls such as `threads = [worker(i) for i in range(2)]`; it contains a number",
        1,
    ),
    (
        "float",
        "x = 0.5\ndef f(): pass\nthreads = [f()]\n",
        "models have integers only; `0.5` is a float",
        1,
    ),
    ("str", "def f():\n    x = 'a' + 'b'\nthreads = [f()]\n", "`'a'` is a string, not a number", 2),
    (
        "slice",
        "a = Array(Int, 3)\ndef f():\n    b = a[0:1]\nthreads = [f()]\n",
        "an object (Array(Int, 3)) has no slices in models; use a loop over indexes",
        3,
    ),
    (
        "change type",
        "m = Mutex()\ndef f():\n    x = 1\n    x = m\nthreads = [f()]\n",
        "`x` changes its type to an object (Mutex); use another name",
        4,
    ),
    (
        "unknown method",
        "m = Mutex()\ndef f(): m.lock()\nthreads = [f()]\n",
        "Mutex has no operation `lock`; it has acquire, locked, release",
        2,
    ),
    (
        "with num",
        "def f():\n    with 3: pass\nthreads = [f()]\n",
        "`with 3` needs a lock; this is a number",
        2,
    ),
    (
        "assign obj",
        "a = Array(Mutex, 2)\ndef f():\n    a[0] = Mutex()\nthreads = [f()]\n",
        "`a[0]` is an object (Mutex), which cannot be replaced; only numbers can be assigned",
        3,
    ),
    (
        "global undefined",
        "def f():\n    global zz\n    zz = 1\nthreads = [f()]\n",
        "`zz` is not defined at module level; only shared numbers can be assigned by functions",
        3,
    ),
    (
        "choose loop atomic",
        "def f():\n    with atomic():\n        while choose(0,1): pass\nthreads = [f()]\n",
        "`choose` in a loop inside `atomic()` would choose any number of times in one step; choose before the section",
        3,
    ),
    (
        "queue nowait",
        "q = Queue(1)\ndef f(): q.put_nowait(1)\nthreads = [f()]\n",
        "`Queue.put_nowait` is not supported; test `full()` inside `with atomic():`, then `put`",
        2,
    ),
    (
        "queue block",
        "q = Queue(1)\ndef f(): q.put(1, block=False)\nthreads = [f()]\n",
        "`put` without waiting raises an exception, which models cannot catch; test `full()` inside `with atomic():`, then `put`",
        2,
    ),
    (
        "prio",
        "q = queue.PriorityQueue()\ndef f(): pass\nthreads = [f()]\n",
        "a PriorityQueue is not supported; use a Queue, or an Array and a Condition",
        1,
    ),
    (
        "barrier reset",
        "b = Barrier(2)\ndef f(): b.reset()\nthreads = [f()]\n",
        "`Barrier.reset` is not supported; broken barriers are not modelled",
        2,
    ),
    (
        "starred",
        "def g(a): pass\ndef f():\n    g(*[1])\nthreads = [f()]\n",
        "models cannot contain starred arguments; write them out",
        3,
    ),
    (
        "too many args",
        "def g(a): pass\ndef f():\n    g(1, 2)\nthreads = [f()]\n",
        "`g` takes at most 1 arguments, not 2",
        3,
    ),
    (
        "missing arg",
        "def g(a): pass\ndef f():\n    g()\nthreads = [f()]\n",
        "`g` needs a value for `a`",
        3,
    ),
    (
        "walrus",
        "def f():\n    if (x := 1): pass\nthreads = [f()]\n",
        "models cannot contain `:=`; assign on a line of its own (instead of `while (x := f()):` write `while True:`, then `x = f()`, then `if not x: break`)",
        2,
    ),
    (
        "class inherit",
        "class A(int):\n    x: Int[0, 1]\na = A()\ndef f(): pass\nthreads = [f()]\n",
        "`A` inherits; models have plain classes only",
        1,
    ),
    (
        "decorator",
        "import functools\n\nthreads = [f()]\n",
        "a model cannot import `functools`; it may import `mazurka.model`, `threading`, `queue`, `time`, `dataclasses` and `typing`",
        1,
    ),
    (
        "atomic noparens",
        "def f():\n    with atomic: pass\nthreads = [f()]\n",
        "write `with atomic():`, with parentheses",
        2,
    ),
    (
        "with as",
        "m = Mutex()\ndef f():\n    with m as x: pass\nthreads = [f()]\n",
        "`with ... as` has no use here; leave out the `as` part",
        3,
    ),
    (
        "in array",
        "a = Array(Int[0,1], 2)\ndef f():\n    assert 1 in a\nthreads = [f()]\n",
        "`in` needs a list or tuple written out, or a `range` with step 1; for an Array write `any(item == x for item in array)`",
        3,
    ),
    (
        "is num",
        "def f():\n    x = 1 is 1\nthreads = [f()]\n",
        "`1 is 1` compares identity; use `==` for numbers",
        2,
    ),
    (
        "int range empty",
        "x: Int[3, 1] = 2\ndef f(): pass\nthreads = [f()]\n",
        "`Int[3, 1]` is empty: 3 is greater than 1",
        1,
    ),
    (
        "array dyn len",
        "def f():\n    n = choose(1, 2)\n    a = Array(Int, n)\nthreads = [f()]\n",
        "the length of an Array must be a constant; `n` is not",
        3,
    ),
    (
        "annotation that takes steps",
        "x: Int[0 and a, 2] = 0\ndef f(): pass\nthreads = [f()]\n",
        "`x: Int[0 and a, 2] = 0` needs a value that is not constant here",
        1,
    ),
    (
        "compare obj",
        "m = Mutex()\ndef f():\n    assert m == 1\nthreads = [f()]\n",
        "`m` is an object (Mutex), not a number",
        3,
    ),
    (
        "big int",
        "x = 99999999999999999999\ndef f(): pass\nthreads = [f()]\n",
        "the number 99999999999999999999 does not fit in 64 bits",
        1,
    ),
    (
        "use none",
        "def g(): pass\ndef f():\n    x = g() + 1\nthreads = [f()]\n",
        "`g()` is None, not a number",
        3,
    ),
    (
        "generator",
        "a = Array(Int[0,1], 2)\ndef f():\n    x = (i for i in range(3))\nthreads = [f()]\n",
        "models cannot contain a generator; use a list or a loop",
        3,
    ),
    (
        "async with",
        "def f():\n    x = [1,2]\n    x.append(3)\nthreads = [f()]\n",
        "an object (Array(Int, 2)) has no method `append` in models",
        3,
    ),
    (
        "append if",
        "def g(): pass\ndef f():\n    x = []\n    if choose(0,1):\n        x.append(spawn(g))\nthreads = [f()]\n",
        "a list can be appended to only where that surely happens (not in `while`, not under an `if`); use an Array, or a Queue",
        5,
    ),
    (
        "pow",
        "def f():\n    x = 2 ** 3\n    assert x == 8\n    y = choose(1,2) ** 2\nthreads = [f()]\n",
        "`**` needs constants on both sides; multiply instead",
        4,
    ),
    (
        "recursive class",
        "class A:\n    a: A\nx = A()\ndef f(): pass\nthreads = [f()]\n",
        "`A` contains itself; use an Array and indexes",
        1,
    ),
    (
        "thread lambda",
        "t = threading.Thread(target=lambda: 1)\nt.start()\n",
        "a thread runs a function of the model, not a lambda",
        1,
    ),
    (
        "join num",
        "def f():\n    join(3)\nthreads = [f()]\n",
        "`join` needs a thread, not a number",
        2,
    ),
    (
        "wait_for timeout",
        "c = Condition()\ndef f():\n    with c:\n        c.wait_for(lambda: True, timeout=1)\nthreads = [f()]\n",
        "`wait_for` takes a predicate and no timeout; use `wait` in a loop",
        4,
    ),
    (
        "mixed return",
        "def g(a):\n    if a: return 1\ndef f():\n    x = g(choose(0,1)) + 1\nthreads = [f()]\n",
        "`g` can end without `return` (line 4), so `g(choose(0, 1))` may be None",
        4,
    ),
    (
        "handle in array",
        "def g(): pass\ndef f():\n    a = Array(Int[0,1], 2)\n    a[0] = spawn(g)\nthreads = [f()]\n",
        "`a[0]` holds a number, not a thread",
        4,
    ),
    (
        "loop var after",
        "def f():\n    n = choose(1,2)\n    for i in range(n):\n        pass\n    assert i == n - 1\nthreads = [f()]\n",
        "`i` may have no value here; assign it on every path that leads here",
        5,
    ),
]


@pytest.mark.parametrize(
    ("source", "message", "line"), [row[1:] for row in REFUSALS], ids=[row[0] for row in REFUSALS]
)
def test_refusal(source: str, message: str, line: int) -> None:
    with pytest.raises(UnsupportedError) as caught:
        elaborate(PRELUDE + source, "model.py")
    assert caught.value.message == message
    assert caught.value.file == "model.py"
    assert caught.value.line == LINES + line
    written = source.splitlines()[line - 1]
    assert caught.value.column is not None
    assert written[caught.value.column - 1 :].strip(), "the column is behind the end of the line"
