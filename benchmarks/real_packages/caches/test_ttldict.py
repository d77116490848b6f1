import pytest
from together import run_together
from ttldict import TTLOrderedDict

pytestmark = pytest.mark.mazurka


def test_two_keys():
    """holds: stores are locked."""
    d = TTLOrderedDict(10)

    def put(k):
        d[k] = 1

    run_together(lambda: put("a"), lambda: put("b"))
    assert len(d) == 2


def test_increment():
    """violated: get and set."""
    d = TTLOrderedDict(10)
    d["n"] = 0

    def f():
        d["n"] = d["n"] + 1

    run_together(f, f)
    assert d["n"] == 2


def test_keys_while_set():
    """holds: keys() purges and copies under the lock."""
    d = TTLOrderedDict(10)
    d["a"] = 1

    def put():
        d["b"] = 1

    run_together(lambda: list(d.keys()), put)
    assert len(d) == 2
