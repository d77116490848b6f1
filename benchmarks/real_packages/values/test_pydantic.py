import pydantic
import pytest
from together import run_together

pytestmark = pytest.mark.mazurka


class Order(pydantic.BaseModel):
    pieces: int = 0
    names: list[str] = []


def test_validate():
    """holds: validation makes a new object each time."""
    made = []
    run_together(lambda: made.append(Order(pieces="1")), lambda: made.append(Order(pieces="2")))
    assert sorted(order.pieces for order in made) == [1, 2]


def test_add():
    """violated: `+=` on a field is a read and a write."""
    order = Order()

    def add():
        order.pieces += 1

    run_together(add, add)
    assert order.pieces == 2
