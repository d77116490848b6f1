import pytest
from marshmallow import Schema, fields
from together import run_together

pytestmark = pytest.mark.mazurka


class Order(Schema):
    pieces = fields.Integer()


def test_load():
    """holds: a schema is not changed by loading."""
    schema = Order()
    found = []
    run_together(
        lambda: found.append(schema.load({"pieces": "1"})["pieces"]),
        lambda: found.append(schema.load({"pieces": "2"})["pieces"]),
    )
    assert sorted(found) == [1, 2]
