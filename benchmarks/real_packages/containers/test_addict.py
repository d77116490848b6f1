import pytest
from addict import Dict
from together import run_together

pytestmark = pytest.mark.mazurka


def test_branches_of_a_new_path():
    """violated: each thread makes a child for the missing key, and attaches it at the end."""
    table = Dict()
    run_together(lambda: setattr(table.a, "b", 1), lambda: setattr(table.a, "c", 2))
    assert table.to_dict() == {"a": {"b": 1, "c": 2}}


def test_branches_of_a_known_path():
    """holds: these are two keys of one dictionary."""
    table = Dict(a={"x": 0})
    run_together(lambda: setattr(table.a, "b", 1), lambda: setattr(table.a, "c", 2))
    assert table.to_dict() == {"a": {"x": 0, "b": 1, "c": 2}}
