import pytest
from together import run_together
from treelib import Tree
from treelib.exceptions import MultipleRootError

pytestmark = pytest.mark.mazurka


def test_children():
    """holds: two children with different names: separate stores, append."""
    t = Tree()
    t.create_node("root", "root")
    run_together(
        lambda: t.create_node("a", "a", parent="root"),
        lambda: t.create_node("b", "b", parent="root"),
    )
    assert sorted(n.identifier for n in t.children("root")) == ["a", "b"]


def test_two_roots():
    """violated: both see no root."""
    t = Tree()
    refused = []

    def make(name):
        try:
            t.create_node(name, name)
        except MultipleRootError:
            refused.append(name)

    run_together(lambda: make("a"), lambda: make("b"))
    assert len(refused) == 1


def test_remove_while_walking():
    """violated: a child is removed between listing and visiting."""
    t = Tree()
    t.create_node("root", "root")
    t.create_node("a", "a", parent="root")
    t.create_node("b", "b", parent="root")
    run_together(lambda: list(t.expand_tree()), lambda: t.remove_node("b"))
