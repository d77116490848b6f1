"""Sources that try every construct; each leaves what it found in `result`."""

from __future__ import annotations

SNIPPETS = {
    "attributes": """
class A:
    """
    '''"""A docstring."""
    x = 1
    __slots__ = ("y", "__z")
    def __init__(self):
        self.y = self.x
        self.__z = 5
        self.y += 1
        self.__z *= 3
    def z(self):
        del self.y
        return self.__z, hasattr(self, "y"), self.__doc__
result = A().z()
''',
    "targets": """
class A: pass
a = A()
d = {}
l = [0, 1, 2, 3]
def f():
    a.x, (d["k"], *a.rest), l[1:3] = 1, [2, 3, 4], "ab"
    for a.i in range(3): pass
    for d["i"], l[0] in [(1, 2), (3, 4)]: pass
    with open(__import__("os").devnull) as a.file: a.file.close()
    a.p = a.q = d["q"] = []
    a.ann: int = 4
    (a.y): "nothing" = 5
    del a.p, d["q"], (l[0], l[0])
    return a.x, d, l, a.rest, a.i, a.ann, a.y, hasattr(a, "p"), a.q
result = f()
""",
    "order of evaluation": """
log = []
def n(x):
    log.append(x)
    return x
class A:
    def __getattr__(self, name):
        log.append(name)
        return lambda *a, **k: log.append((a, k))
    def __setattr__(self, name, value): log.append(("set", name))
    def __getitem__(self, key): log.append(("get", key)); return 1
    def __setitem__(self, key, value): log.append(("put", key))
def f():
    a = A()
    n(a).x = n(1)
    n(a)[n(2)] = n(3)
    n(a)[n(4)] += n(5)
    n(a).method(n(6), *[n(7)], k=n(8), **{"l": n(9)})
    n(a).u, n(a)[n(10)] = n(11), n(12)
    {n(13): n(14), **{n(15): 1}}
    n(16) < n(17) < n(15) < n(18)
    n(0) or n(19) and n(20)
    return [x if not isinstance(x, A) else "a" for x in log]
result = f()
""",
    "closures": """
def f(p):
    x = 0
    def inc(by=1):
        nonlocal x
        x += by
        return x
    def late(): return y
    inc(); inc(3)
    y = 10
    fs = []
    for i in range(3):
        fs.append(lambda: i)
    (w := 5)
    def g(): return w, p
    w = 6
    p += 1
    del y
    try:
        late()
    except NameError as error:
        text = str(error)
    return x, [g() for g in fs], g(), text, [(lambda: k)() for k in range(2)]
result = f(1)
""",
    "unbound": """
def f():
    def g(): return x
    try:
        x
    except UnboundLocalError as e:
        one = str(e)
    try:
        g()
    except NameError as e:
        two = type(e), str(e)
    x = 1
    return one, two, x
result = f()
""",
    "globals": """
count = 0
other = []
def f():
    global count, made, Made
    count += 1
    for count in range(count, 5): pass
    count, rest = count + 1, 3
    def made(): return "made"
    class Made: n = count
    other.append(count)
    try:
        missing
    except NameError as e:
        text = str(e)
    return text, made(), Made.n
result = f(), count, other
""",
    "super and class": """
class Base:
    def hello(self): return ["base"]
    @classmethod
    def make(cls): return cls()
    @property
    def p(self): return self._p
    @p.setter
    def p(self, v): self._p = v
class Sub(Base):
    def hello(self): return super().hello() + [__class__.__name__]
    def __init_subclass__(cls, **k): super().__init_subclass__(); cls.k = k
class Sub2(Sub, key=1):
    items = [x for x in range(3)]
    also = [y + z for y in items for z in (1,)]
s = Sub2.make()
s.p = 1
s.p += 1
result = s.hello(), s.p, Sub2.k, Sub2.also
""",
    "generators": """
def g(n):
    got = []
    for i in range(n):
        got.append((yield i))
    return got
def h():
    r = yield from g(2)
    yield r
    yield from [7, 8]
it = h()
result = [next(it), it.send("a"), it.send("b"), list(it), list(x * 2 for x in [1, 2] if x)]
""",
    "containers": """
from collections import Counter, OrderedDict, defaultdict, deque
d = defaultdict(list)
def f():
    d["a"].append(1)
    d["a"] += [2]
    c = Counter("abca")
    c["a"] += 2
    c.update("bb")
    o = OrderedDict(a=1); o.move_to_end("a"); o["b"] = 2
    q = deque([1, 2, 3], maxlen=3)
    q.append(4); q.appendleft(0); q.rotate(1)
    s = {1, 2}; s |= {3}; s -= {1}; s.add(9); s.discard(4)
    l = [3, 1, 2]
    l.sort(key=lambda x: -x); l += (x for x in "ab"); l.extend(y for y in "c"); l *= 1
    b = bytearray(b"ab"); b[0] = 122; b.extend([1])
    return (d, c.most_common(), list(o), o.pop("b", 0), list(q), s, l, b, l[-1], l[1:3], l[::-1],
        3 in l, "z" not in l, len(l), sorted(s), l == list(l), {**o, "k": 1}, [*l, *q],
        max(l[:2]), min([[3], [1]], key=len), sum([1, 2]), list(zip(l, q)), list(enumerate(q)),
        list(reversed(q)), list(iter(l)), " ".join(["a", "b"]), f"{l!r:>20}", "%s %s" % (l, s),
        d.setdefault("z", 0), d.get("y"), dict(o), any([0, 1]), [0] * 3, q.pop(), q.popleft(),
        list(map(str, l)), next(iter([5])), tuple(d.items()), list(d.keys()), dict.get(o, "a"))
result = f()
""",
    "errors": """
class A: pass
log = []
def t(action):
    try:
        action()
    except Exception as error:
        log.append((type(error).__name__, str(error)))
x = 5
def f():
    t(lambda: A().missing)
    t(lambda: [][1])
    t(lambda: {}["k"])
    t(lambda: 1 + "a")
    t(lambda: None.x)
    t(lambda: [].pop())
    t(lambda: undefined)
    t(lambda: 1 in 2)
    t(lambda: len(3))
    t(lambda: x())
    t(lambda: [].nothing())
    def aug():
        a = A()
        a.y += 1
    t(aug)
    def unpack():
        a, b = [1]
    t(unpack)
    def dele():
        del A().q
    t(dele)
    return log
result = f()
""",
    "match": """
class P:
    __match_args__ = ("x", "y")
    def __init__(self, x, y): self.x = x; self.y = y
def f(v):
    match v:
        case [1, *rest] if rest: return "list", rest
        case {"k": k, **others}: return "dict", k, others
        case P(x, 0) | P(0, x): return "p", x
        case str() as s: return s
        case _: return None
result = [f([1, 2]), f({"k": 1, "j": 2}), f(P(3, 0)), f("s"), f([1])]
""",
    "tests": """
def f(l, d):
    r = []
    if l: r.append(1)
    while not d: d["a"] = 1
    r.append(1 if l and d else 2)
    r.append([] or l or 5)
    r.append(not [])
    assert l == [1], "no"
    r.append([x for x in [0, 1, []] if x])
    return r
result = f([1], {})
""",
    "functions": """
import functools
def deco(f):
    @functools.wraps(f)
    def w(*a, **k): return [f(*a, **k)]
    w.calls = 0
    return w
@deco
def f(a, /, b=[1, 2], *c, d={"x": 1}, **e) -> "no such name":
    f.calls += 1
    return a, b, c, d, e
result = f(1, 2, 3, d=4, e=5), f.calls, f.__wrapped__.__annotations__, (lambda a=[3]: a)()
""",
    "async": """
import asyncio
class M:
    async def __aenter__(self): return self
    async def __aexit__(self, *a): return False
async def agen():
    for i in [1, 2]:
        yield i
async def f():
    out = []
    async with M() as m:
        m.x = await asyncio.sleep(0, 7)
        async for i in agen(): out.append(i)
        late = (i async for i in agen())
        return out + [i async for i in agen()] + [i async for i in late], m.x
coroutine = f()
result = asyncio.run(coroutine)
""",
    "setattr": """
class A:
    def __setattr__(self, name, value):
        super().__setattr__(name, value * 2)
    def __delattr__(self, name):
        object.__delattr__(self, name)
a = A()
def f():
    a.x = 2
    object.__setattr__(a, "y", 3)
    setattr(a, "z", 4)
    got = getattr(a, "x"), a.y, a.z, getattr(a, "w", None), hasattr(a, "z")
    delattr(a, "z"); del a.x
    return got, a.__dict__
result = f()
""",
    "subclasses": """
class L(list):
    def append(self, x): super().append(x + 1)
    def __getitem__(self, k): return "item"
class D(dict):
    def __missing__(self, k): return k * 2
    def __iter__(self): return iter(["own"])
def f():
    l, d = L(), D()
    l.append(1); l.n = 4; l.n += 1
    list.append(l, 7)
    d["a"] = 1
    return list(l), l[0], l.n, d["a"], d["b"], [k for k in d], len(l), l == [2, 7]
result = f()
""",
}
