import pytest
from intervaltree import IntervalTree
from together import run_together

pytestmark = pytest.mark.mazurka


def test_add_two():
    """violated: `add` finds no root, makes one, and replaces that of the other thread."""
    tree = IntervalTree()
    run_together(lambda: tree.addi(1, 3, "a"), lambda: tree.addi(2, 4, "b"))
    assert len(tree.at(2)) == 2


def test_readers():
    """holds: a query changes nothing."""
    tree = IntervalTree.from_tuples([(1, 3), (2, 4)])
    found = []
    run_together(lambda: found.append(len(tree.at(2))), lambda: found.append(len(tree.at(1))))
    assert sorted(found) == [1, 2]
