"""Containers that C code reads as elements of what it goes through.

Programs for `test_hidden_accesses`; see there for how they are written.  In each two threads ask
whether something is in a list, and one of them takes it.
"""

from __future__ import annotations

ASKED = (
    *("any([q])", "any((q,))", "any({1: q}.values())", "any(w.q for w in ws)"),
    *("any(map(bool, [q]))", "any(map(lambda x: x, [q]))", "all([q])", "all(w.q for w in ws)"),
    *("sum([q], [])", "sum((w.q for w in ws), [])", "sum([[2]], start=q) == [1, 2]"),
    *("list(filter(None, [q]))", "list(filter(bool, [q]))", "list(filter(lambda x: x, [q]))"),
    *("not list(itertools.filterfalse(None, [q]))", "next(filter(None, [q]), None)"),
    *("list(itertools.takewhile(bool, [q]))", "list(itertools.compress('a', [q]))"),
    *("list(map(list, [q])) == [[1]]", "max(w.q for w in ws)"),
    *("max(ws, key=lambda w: w.q).q", "sorted(w.q for w in [*ws, W([0])])[1] == [1]"),
    *("sorted([*ws, W([0])], key=lambda w: w.q)[1] is ws[0]", "in_order([q, [0]])[1] is q"),
    *("in_order([q, [0]], key=lambda x: x)[1] is q", "bisect.bisect([[0]], q)"),
    *("bisect.bisect_left([q], [1]) == 0", "inserted([[0]], q)[1] is q", "pushed([[0]], q)"),
    *("Pair(q, 1) == Pair([1], 1)", "sliced(q) == [1]", "[1] in (q,)", "(q,).count([1])"),
    *("paired(dict, [p])", "paired({}.update, [p])", "paired(dict, (x for x in [p]))"),
    *("list(itertools.starmap(lambda *a: len(a), [p])) == [2]", "first((p,))", "inner([(1, p)])"),
    *("list(itertools.accumulate([[0], q]))[1] == [0, 1]", "first(x for x in [p])"),
    *("len(list(itertools.groupby([q, [1]]))) == 1", "assigned(p)", "inner({1: p}.items())"),
    *("str(ValueError(q)) == '[1]'", "Pair(q, 1).count([1])", "max([q, []], key=None)"),
    *("max(W(q), W([0]), key=lambda w: w.q).q is q", "paired(collections.UserDict, [p])"),
    *("bisect.bisect([q], [0], key=lambda x: x) == 0", "inserted([[0]], q, lambda x: x)[1] is q"),
    *("json.dumps(W(q), default=lambda w: w.q) == '[1]'", "written([q])", "entered(p)"),
    *("written(x for x in [q])", "list(csv.reader(names))"),
    *("[1] in (x for x in [q])", "operator.countOf((x for x in [q]), [1])", "[1] in iter([q])"),
    *("next(iter(lambda: q, [1]), None) is None", "started(q)"),
    "'[1]' in repr(functools.partial(len, q))",
)

DEFINITIONS = """
import csv
class W:
    def __init__(self, q): self.q = q
Pair = collections.namedtuple('Pair', 'a b')
def in_order(values, key=None):
    values.sort(key=key)
    return values
def inserted(values, new, key=None):
    bisect.insort(values, new, key=key)
    return values
def written(fields):
    text = io.StringIO()
    csv.writer(text).writerow(fields)
    return text.getvalue() != '[]\\r\\n'
def entered(pair):
    try:
        with contextlib.nullcontext(pair) as (a, b):
            return True
    except ValueError:
        return False
def started(arguments):
    found = []
    thread = threading.Thread(target=lambda *given: found.extend(given), args=arguments)
    thread.start()
    thread.join()
    return found
def pushed(values, new):
    heapq.heappush(values, new)
    return len(new)
def paired(make, pairs):
    try:
        make(pairs)
    except ValueError:
        return False
    return True
def first(pairs):
    try:
        return [1 for a, b in pairs]
    except ValueError:
        return []
def inner(pairs):
    try:
        return [1 for a, (b, c) in pairs]
    except ValueError:
        return []
def assigned(pair):
    try:
        a, (b, c) = 1, pair
    except ValueError:
        return False
    return True
def sliced(values):
    copy = [0, 0]
    copy[:] = values
    return copy
"""

BODY = """
q = [1]
p = [1, 2]
names = ['a']
ws = [W(q)]
got = []
def take():
    with GUARD:
        if {asked}:
            q.clear()
            p.clear()
            names.clear()
            got.append(1)
together(take, take)
assert got == [1]
"""

ELEMENTS = "".join(
    f"### elements asked by {asked}\n{DEFINITIONS}---\n{BODY.format(asked=asked).lstrip()}"
    for asked in ASKED
)
