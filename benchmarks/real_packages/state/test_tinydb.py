import pytest
from tinydb import TinyDB, where
from tinydb.storages import MemoryStorage
from together import run_together

pytestmark = pytest.mark.mazurka


def test_two_insert():
    """violated: `insert` reads the table, changes it and writes it back, without a lock."""
    table = TinyDB(storage=MemoryStorage)
    run_together(lambda: table.insert({"n": 1}), lambda: table.insert({"n": 2}))
    assert len(table) == 2


def test_two_search():
    """holds: reading changes nothing but the cache of queries."""
    table = TinyDB(storage=MemoryStorage)
    table.insert({"n": 1})
    found = []
    run_together(
        lambda: found.append(len(table.search(where("n") == 1))),
        lambda: found.append(len(table.search(where("n") == 2))),
    )
    assert sorted(found) == [0, 1]
