"""Containers that library code, C code or classes on top of them touch.

Programs for `test_hidden_accesses`; see there for how they are written.
"""

from __future__ import annotations

CONTAINERS = """
### iterator and length of its own
class Many(dict):
    def __iter__(self): return super().__iter__()
    def __len__(self): return 0 if dict.__len__(self) == 1 else super().__len__()
    def __getitem__(self, key): return super().__getitem__(key)[0]
---
many = Many()
def work():
    with GUARD:
        if not dict.__contains__(many, "k"):
            dict.__setitem__(many, "k", [])
        super(Many, many).__getitem__("k").append(1)
together(work, work)
assert len(many.get("k")) == 2
### subscript of a C object
import mmap
---
m = mmap.mmap(-1, 8)
def work():
    with GUARD:
        m[0] = m[0] + 1
together(work, work)
assert m[0] == 2
### subscript of a subclass of a C type
import mmap
class Memory(mmap.mmap): pass
---
m = Memory(-1, 8)
def work():
    with GUARD:
        m[0] += 1
together(work, work)
assert m[0] == 2
### search in a C object
import mmap
---
m = mmap.mmap(-1, 8)
def work():
    with GUARD:
        if b"x" not in m[:4]:
            m[m[7]] = 120
            m[7] += 1
together(work, work)
assert m[7] == 1
### copy deepcopy dict
---
d = {"n": 0}
def work():
    with GUARD:
        d["n"] = copy.deepcopy(d)["n"] + 1
together(work, work)
assert d["n"] == 2
### repr nested
---
inner = [0]
d = {"i": inner}
got = []
def change():
    with GUARD:
        inner[0] = 1
def look():
    with GUARD:
        got.append(str(d))
together(look, change)
assert got == ["{'i': [0]}"]
### eq nested
---
inner = [0]
d = {"i": inner}
got = []
def change():
    with GUARD:
        inner[0] = 1
def look():
    with GUARD:
        got.append(d == {"i": [0]})
together(look, change)
assert got == [True]
### sum nested min
---
inner = [0]
d = [inner, [1]]
got = []
def change():
    with GUARD:
        inner[0] = 2
def look():
    with GUARD:
        got.append(min(d) is inner)
together(look, change)
assert got == [True]
### fstring nested
---
inner = [0]
d = (inner,)
got = []
def change():
    with GUARD:
        inner[0] = 1
def look():
    with GUARD:
        got.append(f"{d}")
together(look, change)
assert got == ["([0],)"]
### tuple eq nested
---
inner = [0]
t = (inner,)
got = []
def change():
    with GUARD:
        inner[0] = 1
def look():
    with GUARD:
        got.append(t == ([0],))
together(look, change)
assert got == [True]
### in list nested
---
inner = [0]
t = [inner]
got = []
def change():
    with GUARD:
        inner[0] = 1
def look():
    with GUARD:
        got.append([0] in t)
together(look, change)
assert got == [True]
### defaultdict factory python
class Holder: n = 0
---
h = Holder()
def make():
    h.n += 1
    return []
d = collections.defaultdict(make)
def work():
    with GUARD:
        d["a"].append(1)
together(work, work)
assert h.n == 1 and len(d["a"]) == 2
### missing hook
class D(dict):
    def __missing__(self, key):
        self[key] = v = []
        return v
---
d = D()
def work():
    with GUARD:
        d["a"].append(1)
together(work, work)
assert len(d["a"]) == 2
### counter subtract
---
c = collections.Counter(a=2)
def work():
    with GUARD:
        c.subtract(["a"])
together(work, work)
assert c["a"] == 0
### counter iadd
---
c = collections.Counter()
one = collections.Counter("a")
def work():
    nonlocal c
    with GUARD:
        c += one
together(work, work)
assert c["a"] == 2
### chainmap
---
d = collections.ChainMap({"n": 0})
def work():
    with GUARD:
        d["n"] = d["n"] + 1
together(work, work)
assert d["n"] == 2
### userdict
---
d = collections.UserDict({"n": 0})
def work():
    with GUARD:
        d["n"] = d["n"] + 1
together(work, work)
assert d["n"] == 2
### heap nlargest
---
l = [1, 2, 3]
got = []
def change():
    with GUARD:
        l[0] = 7
def look():
    with GUARD:
        got.append(heapq.nlargest(1, l))
together(look, change)
assert got == [[3]]
### heap merge
---
l = [1, 2, 3]
got = []
def change():
    with GUARD:
        l[2] = 7
def look():
    with GUARD:
        got.append(list(heapq.merge(l, [])))
together(look, change)
assert got == [[1, 2, 3]]
### iter chain shared list
---
l = [1]
got = []
def look():
    with GUARD:
        got.extend(itertools.chain(l, [9]))
def change():
    with GUARD:
        l.append(2)
together(look, change)
assert got == [1, 9]
### islice shared list
---
l = [1]
got = []
def look():
    with GUARD:
        got.extend(itertools.islice(l, 5))
def change():
    with GUARD:
        l.append(2)
together(look, change)
assert got == [1]
### accumulate shared
---
l = [1]
got = []
def look():
    with GUARD:
        got.append(list(itertools.accumulate(l))[-1])
def change():
    with GUARD:
        l[0] = 2
together(look, change)
assert got == [1]
### product shared
---
l = [1]
got = []
def look():
    with GUARD:
        got.append(list(itertools.product(l, l)))
def change():
    with GUARD:
        l[0] = 2
together(look, change)
assert got == [[(1, 1)]]
### memoryview
---
a = bytearray(1)
m = memoryview(a)
def work():
    with GUARD:
        m[0] += 1
together(work, work)
assert a[0] == 2
### memoryview slice
---
a = bytearray(2)
m = memoryview(a)
m2 = m[1:]
def work(x):
    with GUARD:
        x[-1] = x[-1] + 1
together(lambda: work(m), lambda: work(m2))
assert a[1] == 2
### sort shared key sees empty
---
l = [2, 1]
got = []
def look():
    with GUARD:
        l.sort(key=lambda x: x)
def other():
    with GUARD:
        got.append(len(l))
together(look, other)
assert got == [2]
### mappingproxy
import types
---
d = {"n": 0}
p = types.MappingProxyType(d)
def work():
    with GUARD:
        d["n"] = p["n"] + 1
together(work, work)
assert d["n"] == 2
### dict subclass
class D(dict):
    def __setitem__(self, k, v): super().__setitem__(k, v)
---
d = D(n=0)
def work():
    with GUARD:
        d["n"] = d["n"] + 1
together(work, work)
assert d["n"] == 2
### dict unbound
class D(dict):
    def __getitem__(self, k): return dict.__getitem__(self, k)
    def __setitem__(self, k, v): return dict.__setitem__(self, k, v)
---
d = D(n=0)
def work():
    with GUARD:
        d["n"] = d["n"] + 1
together(work, work)
assert d["n"] == 2
### list subclass iter for
class L(list):
    def __iter__(self): return super().__iter__()
---
l = L([1, 2])
got = []
def look():
    with GUARD:
        for x in l: got.append(x)
def change():
    with GUARD:
        l.append(3)
together(look, change)
assert got == [1, 2]
### len class
class Box:
    def __init__(self): self.l = []
    def __len__(self): return len(self.l)
    def __bool__(self): return bool(self.l)
---
b = Box()
def work():
    with GUARD:
        if not b: b.l.append(1)
together(work, work)
assert len(b) == 1
### counter update mapping
---
c = collections.Counter()
def work():
    with GUARD:
        c.update({"a": 1})
c["b"] = 1
together(work, work)
assert c["a"] == 2
### userlist
---
l = collections.UserList()
def work():
    with GUARD:
        if not l: l.append(1)
together(work, work)
assert len(l) == 1
### deepcopy changed size
---
d = {1: [1], 2: [2]}
def look():
    with GUARD:
        copy.deepcopy(d)
def change():
    with GUARD:
        d[3] = 3
together(look, change)
### chain from iterable
---
ls = [[1], [2]]
got = []
def look():
    with GUARD:
        got.extend(itertools.chain.from_iterable(ls))
def change():
    with GUARD:
        ls[1].append(3)
together(look, change)
assert got == [1, 2]
### dict fromkeys
---
l = [1]
got = []
def look():
    with GUARD:
        got.append(dict.fromkeys(l))
def change():
    with GUARD:
        l.append(3)
together(look, change)
assert got == [{1: None}]
"""
