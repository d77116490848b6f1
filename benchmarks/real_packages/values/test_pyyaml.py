import pytest
import yaml
from together import run_together

pytestmark = pytest.mark.mazurka


class Point:
    made = 0


def test_load():
    """holds: own loaders."""
    found = []
    run_together(
        lambda: found.append(yaml.safe_load("a: [1, 2]\nb: x")),
        lambda: found.append(yaml.safe_load("a: [1, 2]\nb: x")),
    )
    assert found[0] == found[1] == {"a": [1, 2], "b": "x"}


def test_add_constructor():
    """violated: the table of constructors is copied at first, then assigned: one is lost."""

    class L(yaml.SafeLoader):
        pass

    run_together(
        lambda: L.add_constructor("!a", lambda loader, node: 1),
        lambda: L.add_constructor("!b", lambda loader, node: 2),
    )
    assert yaml.load("[!a x, !b y]", L) == [1, 2]


def test_dump():
    """holds: own dumpers."""
    found = []
    run_together(
        lambda: found.append(yaml.safe_dump({"a": 1})),
        lambda: found.append(yaml.safe_dump({"a": 1})),
    )
    assert found[0] == found[1]
