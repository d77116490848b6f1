"""Names that are bound in unusual ways.

Programs for `test_hidden_accesses`; see there for how they are written.
"""

from __future__ import annotations

BINDINGS = """
### globals mixed
N1 = 0
---
global N1
N1 = 0
def work():
    with GUARD:
        v = N1
        globals()["N1"] = v + 1
together(work, work)
assert N1 == 2
### globals bound nowhere
---
globals()["ZZ"] = 0
def work():
    with GUARD:
        globals()["ZZ"] = ZZ + 1
together(work, work)
assert ZZ == 2
### genexp cell
---
fs = []
got = []
def maker():
    for f in ((lambda: x) for x in (1, 2)):
        fs.append(f)
def user():
    if fs:
        got.append(fs[0]())
together(maker, user)
assert got in ([], [2])
### cell contents
---
n = 0
def inc():
    nonlocal n
    n += 0
cell = inc.__closure__[0]
def work():
    with GUARD:
        cell.cell_contents = cell.cell_contents + 1
together(work, work)
assert n == 2
### cell mixed
---
n = 0
def inc():
    nonlocal n
    n += 0
def work():
    with GUARD:
        v = n
        inc.__closure__[0].cell_contents = v + 1
together(work, work)
assert n == 2
### match class pos
class Box:
    __match_args__ = ("n",)
    def __init__(self, n): self.n = n
---
box = Box(0)
def work():
    with GUARD:
        match box:
            case Box(0): box.n = 1
            case Box(1): box.n = 2
together(work, work)
assert box.n == 2
### match nested
---
inner = {"n": 0}
d = [inner]
def work():
    with GUARD:
        match d:
            case [{"n": v}]: inner["n"] = v + 1
together(work, work)
assert inner["n"] == 2
### match capture nonlocal
---
n = 0
def work():
    nonlocal n
    with GUARD:
        match n + 1:
            case n: pass
together(work, work)
assert n == 2
### match capture global
G5 = 0
def gwork():
    global G5
    match G5 + 1:
        case G5: pass
---
global G5
G5 = 0
def work():
    with GUARD:
        gwork()
together(work, work)
assert G5 == 2
### except as nonlocal
---
e = None
def work(x):
    nonlocal e
    with GUARD:
        try:
            raise ValueError(x)
        except ValueError as e:
            assert e.args == (x,)
together(lambda: work(1), lambda: work(2))
### del global
G6 = 0
def drop():
    global G6
    if "G6" in globals():
        del G6
---
globals()["G6"] = 1
def work():
    with GUARD:
        drop()
together(work, work)
### two lambdas one line
class Box: n = 0
box = Box()
F = (lambda: setattr(box, "n", box.n + 1), lambda: setattr(box, "n", box.n + 1))
---
box.n = 0
together(*F)
assert box.n == 2
### two lambdas same class
class Box:
    get = lambda self: self.v; put = lambda self, v: setattr(self, "v", v)
---
b = Box(); b.put(0)
def work():
    with GUARD:
        b.put(b.get() + 1)
together(work, work)
assert b.v == 2
### genexp submit
---
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(1) as pool:
    fs = [pool.submit(lambda: i) for i in range(2)]
    got = [f.result() for f in fs]
assert got == [0, 1]
"""
