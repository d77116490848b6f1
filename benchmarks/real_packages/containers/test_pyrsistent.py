import pytest
from pyrsistent import pmap, pvector
from together import run_together

pytestmark = pytest.mark.mazurka


def test_derived_vectors():
    """holds: vectors never change; each thread derives its own."""
    base = pvector([1])
    made = []
    run_together(lambda: made.append(base.append(2)), lambda: made.append(base.append(3)))
    assert base == pvector([1])
    assert sorted(vector[1] for vector in made) == [2, 3]


def test_replace_a_map():
    """violated: reading the variable, deriving a map and storing it are three steps."""
    box = {"map": pmap()}

    def add(key):
        box["map"] = box["map"].set(key, 1)

    run_together(lambda: add("a"), lambda: add("b"))
    assert len(box["map"]) == 2
