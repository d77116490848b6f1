"""Accesses inside of calls of built-in functions and of the library.

Programs for `test_hidden_accesses`; see there for how they are written.
"""

from __future__ import annotations

CALLS = """
### arguments with a star and by name
def f(*given, n): return len(given) == n
---
items, found = [1], []
def look(): found.append(f(*items, n=len(items)))
together(look, lambda: items.append(2))
assert found == [True]
### format that is computed
---
items, found = [1], []
def look(): found.append(f"{items!s:{3 * len(items)}.{3 * len(items)}}")  # `!s` is first in 3.13
together(look, lambda: items.append(2))
assert found[0] in ("[1]", "[1, 2]")
### operator attrgetter
class Box: pass
---
box = Box(); box.n = 0
get = operator.attrgetter("n")
def work():
    with GUARD:
        box.n = get(box) + 1
together(work, work)
assert box.n == 2
### attrgetter of a property and an attribute
class Box:
    x = y = 0
    @property
    def late(self): return self.x
---
box = Box()
get = operator.attrgetter("late", "y")
got = []
def look():
    with GUARD:
        got.append(get(box))
def change():
    with GUARD:
        box.x = 1
        box.y = 1
together(look, change)
assert got[0] in ((0, 0), (1, 1)) and got != [(1, 1)]
### itemgetter of several elements
---
d = {"x": 0, "y": 0}
got = []
def look():
    with GUARD:
        got.append(operator.itemgetter("x", "y")(d))
def change():
    with GUARD:
        d["x"] = 1
        d["y"] = 1
together(look, change)
assert got == [(0, 0)]
### attrgetter of several attributes
class Box: pass
---
box = Box(); box.x = box.y = 0
got = []
def look():
    with GUARD:
        got.append(operator.attrgetter("x", "y")(box))
def change():
    with GUARD:
        box.x = 1
        box.y = 1
together(look, change)
assert got == [(0, 0)]
### format of what is in an attribute
class Box: pass
---
box = Box(); box.items = [0]
got = []
def look():
    with GUARD:
        got.append("{0.items} {box.items!r:>9}".format(box, box=box))
def change():
    with GUARD:
        box.items[0] = 1
together(look, change)
assert got == ["[0]       [0]"]
### sorted key attrgetter
class Box:
    def __init__(self, n): self.n = n
---
a, b = Box(1), Box(2)
got = []
def look():
    with GUARD:
        got.append(sorted([a, b], key=operator.attrgetter("n"))[0] is a)
def change():
    with GUARD:
        a.n = 3
        b.n = 4
together(look, change)
assert got == [True]
### operator methodcaller list
---
l = []
def work(x):
    with GUARD:
        if not l:
            operator.methodcaller("append", x)(l)
together(lambda: work(1), lambda: work(2))
assert len(l) == 1
### json nested
---
inner = {"n": 0}
d = {"i": inner}
def work():
    with GUARD:
        inner["n"] = json.loads(json.dumps(d))["i"]["n"] + 1
together(work, work)
assert inner["n"] == 2
### str format attr
class Box: pass
---
box = Box(); box.n = 0
got = []
def change():
    with GUARD:
        box.n = 1
def look():
    with GUARD:
        got.append("{0.n}".format(box))
together(look, change)
assert got == ["0"]
### str format map
---
d = {"a": 0}
got = []
def change():
    with GUARD:
        d["a"] = 1
def look():
    with GUARD:
        got.append("{a}".format_map(d))
together(look, change)
assert got == ["0"]
### string template
import string
---
d = {"a": 0}
got = []
def change():
    with GUARD:
        d["a"] = 1
def look():
    with GUARD:
        got.append(string.Template("$a").substitute(d))
together(look, change)
assert got == ["0"]
### lru cache identity
@functools.lru_cache(maxsize=8)
def make2(x):
    return [x]
---
make2.cache_clear()
got = []
def work():
    with GUARD:
        got.append(make2(1))
together(work, work)
assert got[0] is got[1]
### lru cache method
class Srv:
    @functools.lru_cache(maxsize=None)
    def get(self, x):
        return [x]
---
s = Srv()
got = []
def work():
    with GUARD:
        got.append(s.get(1))
together(work, work)
assert got[0] is got[1]
### lru cache map
@functools.cache
def ident4(x):
    return [x]
---
ident4.cache_clear()
got = []
def work():
    with GUARD:
        got.extend(map(ident4, [1]))
together(work, work)
assert got[0] is got[1]
### exitstack
class Box: n = 0
---
box = Box(); box.n = 0
def work():
    with GUARD:
        with contextlib.ExitStack() as st:
            v = box.n
            st.callback(setattr, box, "n", v + 1)
together(work, work)
assert box.n == 2
### print shared file
---
out = io.StringIO()
def work(x):
    with GUARD:
        print(x, file=out)
        print(x, file=out)
together(lambda: work("a"), lambda: work("b"))
assert out.getvalue() in ("a\\na\\nb\\nb\\n", "b\\nb\\na\\na\\n")
### print redirect
---
out = io.StringIO()
def work(x):
    with GUARD:
        print(x)
        print(x)
with contextlib.redirect_stdout(out):
    together(lambda: work("a"), lambda: work("b"))
assert out.getvalue() in ("a\\na\\nb\\nb\\n", "b\\nb\\na\\na\\n")
### thread target setattr
class Box: n = 0
---
b = Box(); got = []
t = threading.Thread(target=setattr, args=(b, "n", 1))
t.start()
got.append(b.n)
t.join()
assert got == [0]
### thread target setitem
---
d = {"n": 0}; got = []
t = threading.Thread(target=operator.setitem, args=(d, "n", 1))
t.start()
got.append(d["n"])
t.join()
assert got == [0]
### thread target heappush
---
d = []; got = []
t = threading.Thread(target=heapq.heappush, args=(d, 1))
t.start()
got.append(len(d))
t.join()
assert got == [0]
### thread target unbound
---
d = []; got = []
t = threading.Thread(target=list.append, args=(d, 1))
t.start()
got.append(len(d))
t.join()
assert got == [0]
### thread target setattr method
class Box: n = 0
---
b = Box(); got = []
t = threading.Thread(target=b.__setattr__, args=("n", 1))
t.start()
got.append(b.n)
t.join()
assert got == [0]
### thread target next
---
c = itertools.count(); got = []
t = threading.Thread(target=next, args=(c,))
t.start()
got.append(next(c))
t.join()
assert got == [0]
### thread target cpartial next
---
c = itertools.count(); got = []
t = threading.Thread(target=c.__next__)
t.start()
got.append(next(c))
t.join()
assert got == [0]
### pool submit setattr
class Box: n = 0
---
b = Box(); got = []
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(1) as pool:
    f = pool.submit(setattr, b, "n", 1)
    got.append(b.n)
    f.result()
assert got == [0]
### bool call
---
l = []
def work():
    with GUARD:
        if bool(l) is False: l.append(1)
together(work, work)
assert len(l) == 1
### statistics mean
import statistics
---
l = [1, 1]
got = []
def look():
    with GUARD:
        got.append(statistics.mean(l))
def change():
    with GUARD:
        l[0] = 3
together(look, change)
assert got == [1]
### pprint text
import pprint
---
l = [1]
got = []
def look():
    with GUARD:
        got.append(pprint.pformat(l))
def change():
    with GUARD:
        l[0] = 3
together(look, change)
assert got == ["[1]"]
"""
