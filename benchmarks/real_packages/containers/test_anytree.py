import pytest
from anytree import Node
from together import run_together

pytestmark = pytest.mark.mazurka


def test_first_children():
    """violated: the list of children is made when it is first needed, by each thread."""
    root = Node("root")
    run_together(lambda: Node("a", parent=root), lambda: Node("b", parent=root))
    assert len(root.children) == 2


def test_next_children():
    """holds: the list is there, and both threads append to it."""
    root = Node("root")
    Node("first", parent=root)
    run_together(lambda: Node("a", parent=root), lambda: Node("b", parent=root))
    assert sorted(child.name for child in root.children) == ["a", "b", "first"]


def test_detach_and_attach():
    """violated: to detach assigns a new list of children; one appended meanwhile is lost."""
    root = Node("root")
    first = Node("first", parent=root)
    run_together(lambda: Node("new", parent=root), lambda: setattr(first, "parent", None))
    assert [child.name for child in root.children] == ["new"]
