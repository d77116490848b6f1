import pytest
from multidict import MultiDict
from together import run_together

pytestmark = pytest.mark.mazurka


def test_add_two():
    """holds: `add` is one call of C code."""
    headers = MultiDict()
    run_together(lambda: headers.add("a", "1"), lambda: headers.add("a", "2"))
    assert sorted(headers.getall("a")) == ["1", "2"]


def test_replace():
    """violated: the value is read, and stored in a second step."""
    headers = MultiDict(n=0)

    def count():
        headers["n"] = headers["n"] + 1

    run_together(count, count)
    assert headers["n"] == 2
