"""Accesses inside of C code that asks objects, copies them or writes them out.

Programs for `test_hidden_accesses`; see there for how they are written.
"""

from __future__ import annotations

KEY = """
class Key:
    def __init__(self, n): self.n = n
    def __eq__(self, other): return self.n == other.n
    def __lt__(self, other): return self.n < other.n
    def __gt__(self, other): return self.n > other.n
    def __hash__(self): return self.n
    def __bool__(self): return self.n > 0
    def __radd__(self, other): return self.n + other
"""

INSIDES = """
### the mutex of a queue
import queue
---
q, done = queue.Queue(), []
def work():
    with GUARD:
        if not q.mutex.locked():
            done.append(1)
            q.mutex.acquire(blocking=False)
together(work, work)
assert len(done) == 1
### the name of a thread by a method
import warnings
---
thread, done = threading.Thread(name="new"), []
def work():
    with GUARD:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if thread.getName() == "new":
                done.append(1)
                thread.setName("used")
together(work, work)
assert len(done) == 1
### attributes of a namespace, written out
---
s = types.SimpleNamespace(a=0, b=0)
out = []
def change():
    with GUARD:
        s.a = 1
        s.b = 1
def work():
    with GUARD:
        out.append(repr([s]))
together(change, work)
assert out[0] != '[namespace(a=1, b=0)]'
### attributes of a namespace, formatted
---
s = types.SimpleNamespace(a=0, b=0)
out = []
def change():
    with GUARD:
        s.a = 1
        s.b = 1
def work():
    with GUARD:
        out.append(f'{s}')
together(change, work)
assert out[0] != 'namespace(a=1, b=0)'
### attributes of a namespace, compared
---
s = types.SimpleNamespace(a=0, b=0)
out = []
def change():
    with GUARD:
        s.a = 1
        s.b = 1
def work():
    with GUARD:
        out.append(s == types.SimpleNamespace(a=1, b=0))
together(change, work)
assert out[0] != True
### attributes of a namespace, by vars
---
s = types.SimpleNamespace(a=0, b=0)
out = []
def change():
    with GUARD:
        s.a = 1
        s.b = 1
def work():
    with GUARD:
        out.append(dict(vars(s)))
together(change, work)
assert out[0] != {'a': 1, 'b': 0}
### arguments of an exception, written out
---
s = ValueError(0, 0)
out = []
def change():
    with GUARD:
        s.args = (1, 0)
        s.args = (1, 1)
def work():
    with GUARD:
        out.append(str(s))
together(change, work)
assert out[0] != '(1, 0)'
### arguments of an exception, by percent
---
s = ValueError(0, 0)
out = []
def change():
    with GUARD:
        s.args = (1, 0)
        s.args = (1, 1)
def work():
    with GUARD:
        out.append('%s' % s)
together(change, work)
assert out[0] != '(1, 0)'
### arguments of an exception, by its method
---
s = ValueError(0, 0)
out = []
def change():
    with GUARD:
        s.args = (1, 0)
        s.args = (1, 1)
def work():
    with GUARD:
        out.append(s.__repr__())
together(change, work)
assert out[0] != 'ValueError(1, 0)'
### attributes of a pickled object
import pickle
class Pair:
    def __init__(self): self.a = self.b = 0
---
s = Pair()
out = []
def change():
    with GUARD:
        s.a = 1
        s.b = 1
def work():
    with GUARD:
        out.append(vars(pickle.loads(pickle.dumps([s]))[0]))
together(change, work)
assert out[0] != {'a': 1, 'b': 0}
### a constant plus a bytearray
---
s = bytearray(2)
out = []
def change():
    with GUARD:
        s[0] = 1
        s[1] = 1
def work():
    with GUARD:
        out.append(b'' + s)
together(change, work)
assert out[0] != b'\\x01\\x00'
### a constant augmented by a bytearray
def add(s):
    t = b''
    t += s
    return t
---
s = bytearray(2)
out = []
def change():
    with GUARD:
        s[0] = 1
        s[1] = 1
def work():
    with GUARD:
        out.append(add(s))
together(change, work)
assert out[0] != b'\\x01\\x00'
### a constant compared with a bytearray
---
s = bytearray(2)
out = []
def change():
    with GUARD:
        s[0] = 1
        s[1] = 1
def work():
    with GUARD:
        out.append(b'\\x01\\x00' == s)
together(change, work)
assert out[0] != True
### a row of comparisons
---
s = [0, 0]
out = []
def change():
    with GUARD:
        s[0] = 1
        s[1] = 1
def work():
    with GUARD:
        out.append([[1, 0]] == [s] == [s])
together(change, work)
assert out[0] != True
### stdout replaced
---
old, sys.stdout = sys.stdout, io.StringIO()
try:
    def look():
        with GUARD:
            sys.stdout.write("a")
    together(look, lambda: print("b", end=""))
    text = sys.stdout.getvalue()
finally:
    sys.stdout = old
assert text == "ab"
### copy of slots
class Box:
    __slots__ = ("n",)
---
box = Box(); box.n = 0
def work():
    with GUARD:
        box.n = copy.copy(box).n + 1
together(work, work)
assert box.n == 2
### deep copy of slots
class Box:
    __slots__ = ("n",)
---
box = Box(); box.n = 0
def work():
    with GUARD:
        box.n = copy.deepcopy(box).n + 1
together(work, work)
assert box.n == 2
### remove compares
KEY
---
l = [Key(1), Key(2)]
def work():
    with GUARD:
        l.remove(Key(2))
def insert():
    with GUARD:
        l.insert(0, Key(0))
together(work, insert)
assert Key(2) not in l
### in compares
KEY
---
l = [Key(1), Key(2)]
got = []
def work():
    with GUARD:
        got.append(Key(2) in l)
def drop():
    with GUARD:
        del l[0]
together(work, drop)
assert got == [True]
### not in compares
KEY
---
l = [Key(1), Key(2)]
got = []
def work():
    with GUARD:
        got.append(Key(2) not in l)
def drop():
    with GUARD:
        del l[0]
together(work, drop)
assert got == [False]
### index compares
KEY
---
l = [Key(1), Key(2)]
def work():
    with GUARD:
        l.index(Key(2))
def drop():
    with GUARD:
        del l[0]
together(work, drop)
### count compares
KEY
---
l = [Key(1), Key(2)]
got = []
def work():
    with GUARD:
        got.append(l.count(Key(2)))
def drop():
    with GUARD:
        del l[0]
together(work, drop)
assert got == [1]
### min compares
KEY
---
l = [Key(3), Key(1)]
got = []
def work():
    with GUARD:
        got.append(min(l).n)
def drop():
    with GUARD:
        del l[0]
together(work, drop)
assert got == [1]
### any asks
KEY
---
l = [Key(0), Key(1)]
got = []
def work():
    with GUARD:
        got.append(any(l))
def drop():
    with GUARD:
        del l[0]
together(work, drop)
assert got == [True]
### sum adds
KEY
---
l = [Key(0), Key(1)]
got = []
def work():
    with GUARD:
        got.append(sum(l))
def drop():
    with GUARD:
        del l[0]
together(work, drop)
assert got == [1]
### a set asks
KEY
---
l = [Key(0), Key(1)]
got = []
def work():
    with GUARD:
        got.append(len({1} & set(map(hash, set(l)))))
def drop():
    with GUARD:
        del l[0]
together(work, drop)
assert got == [1]
### source for debuggers
import linecache
def generated(kind):
    lines = ["def __eq__(self, other):", "    return self.x == other.x and self.y == other.y"]
    name = f"<generated {kind.__name__}>"
    linecache.cache[name] = (1, None, [f"{line}\\n" for line in lines], name)
    space = dict(globals())
    exec(compile(chr(10).join(lines), name, "exec"), space)
    kind.__eq__ = space["__eq__"]
    return kind
---
@generated
class Box:
    x = y = 0
box, got = Box(), []
def look():
    with GUARD:
        other = Box()
        other.y = 1
        got.append(box == other)
def change():
    with GUARD:
        box.x = 1
        box.y = 1
together(look, change)
assert got == [False]
### source for debuggers of a module's class
import linecache
class Box:
    x = y = 0
lines = ["def __eq__(self, other):", "    return self.x == other.x and self.y == other.y"]
name = "<generated Box>"
linecache.cache[name] = (1, None, [f"{line}\\n" for line in lines], name)
space = dict(globals())
exec(compile(chr(10).join(lines), name, "exec"), space)
Box.__eq__ = space["__eq__"]
---
box, got = Box(), []
def look():
    with GUARD:
        other = Box()
        other.y = 1
        got.append(box == other)
def change():
    with GUARD:
        box.x = 1
        box.y = 1
together(look, change)
assert got == [False]
""".replace("KEY\n", KEY.lstrip("\n"))
