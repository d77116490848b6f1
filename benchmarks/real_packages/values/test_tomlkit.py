import pytest
import tomlkit
from together import run_together

pytestmark = pytest.mark.mazurka


def test_parse():
    """holds: own documents."""
    found = []
    run_together(
        lambda: found.append(tomlkit.parse("a = 1\n[t]\nb = 2\n")),
        lambda: found.append(tomlkit.parse("a = 1\n[t]\nb = 2\n")),
    )
    assert found[0] == found[1]


def test_add_two():
    """violated: a container has a map and a body; positions collide."""
    d = tomlkit.document()
    run_together(lambda: d.add("a", 1), lambda: d.add("b", 2))
    assert tomlkit.parse(d.as_string()) == {"a": 1, "b": 2}
    assert d["a"] == 1
    assert d["b"] == 2
