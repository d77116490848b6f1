import pytest
from together import run_together
from voluptuous import All, Coerce, Range, Required, Schema

pytestmark = pytest.mark.mazurka


def test_schema_shared():
    """holds: a compiled schema is not changed."""
    schema = Schema({Required("n"): All(Coerce(int), Range(min=0)), "name": str})
    found = []
    run_together(
        lambda: found.append(schema({"n": "1"})),
        lambda: found.append(schema({"n": 2, "name": "x"})),
    )
    assert sorted(d["n"] for d in found) == [1, 2]


def test_default_factory():
    """violated: the default is a factory that counts."""
    n = [0]

    def count():
        n[0] += 1
        return n[0]

    schema = Schema({Required("id", default=count): int})
    found = []
    run_together(lambda: found.append(schema({})["id"]), lambda: found.append(schema({})["id"]))
    assert sorted(found) == [1, 2]


def test_validate_growing():
    """violated: the data grow while they are checked."""
    schema = Schema({str: int})
    data = {"a": 1, "b": 2}

    def grow():
        data["c"] = 3

    run_together(lambda: schema(data), grow)
