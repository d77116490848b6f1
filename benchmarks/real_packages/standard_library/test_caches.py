import functools
import re
import urllib.parse
import weakref

import pytest
from together import run_together

pytestmark = pytest.mark.mazurka


class Thing:
    pass


def test_lru_cache_calls_once():
    """violated: the cache is looked into before the call and filled after it."""
    calls = []
    function = functools.lru_cache(lambda: calls.append(1))
    run_together(function, function)
    assert len(calls) == 1


def test_lru_cache_counts():
    """holds: the C code counts each call as a hit or a miss."""
    function = functools.lru_cache(lambda number: number)
    run_together(lambda: function(1), lambda: function(1))
    info = function.cache_info()
    assert info.hits + info.misses == 2


def test_singledispatch():
    """holds: the cache of a dispatcher may be filled twice, with the same function."""

    @functools.singledispatch
    def name(thing):
        return "thing"

    name.register(int, lambda thing: "int")
    found = []
    run_together(lambda: found.append(name(1)), lambda: found.append(name("a")))
    assert sorted(found) == ["int", "thing"]


def test_singledispatch_register():
    """violated: a call that has looked for its function puts it into the cache that `register` has
    emptied meanwhile."""

    @functools.singledispatch
    def name(thing):
        return "thing"

    run_together(lambda: name(1), lambda: name.register(int, lambda thing: "int"))
    assert name(1) == "int"


def test_re_compile():
    """holds: a pattern may be compiled twice; the patterns are equal."""
    found = []
    run_together(
        lambda: found.append(bool(re.match("a+b", "aab"))),
        lambda: found.append(bool(re.match("a+b", "b"))),
    )
    assert sorted(found) == [False, True]


def test_urlsplit():
    """holds: `urlsplit` has a cache of the interpreter, and no other state."""
    found = []
    run_together(
        lambda: found.append(urllib.parse.urlsplit("http://a/b").path),
        lambda: found.append(urllib.parse.quote("a b")),
    )
    assert sorted(found) == ["/b", "a%20b"]


def test_weak_value_dictionary_setdefault():
    """violated: `setdefault` looks and stores in two steps."""
    things = weakref.WeakValueDictionary()
    made = [Thing(), Thing()]
    got = []
    run_together(
        lambda: got.append(things.setdefault("key", made[0])),
        lambda: got.append(things.setdefault("key", made[1])),
    )
    assert got[0] is got[1]


def test_finalize_runs_once():
    """holds: `finalize` takes itself out of its registry by one `pop`."""
    thing = Thing()
    calls = []
    finalizer = weakref.finalize(thing, calls.append, 1)
    run_together(finalizer, finalizer)
    assert calls == [1]
