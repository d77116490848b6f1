import attrs
import cattrs
import pytest
from together import run_together

pytestmark = pytest.mark.mazurka


@attrs.define
class Point:
    x: int


def test_hook_is_made_while_another_thread_makes_it():
    """holds: both threads may generate the same function; the last one stays."""
    converter = cattrs.Converter()
    made = []
    run_together(
        lambda: made.append(converter.structure({"x": 1}, Point)),
        lambda: made.append(converter.structure({"x": 2}, Point)),
    )
    assert sorted(point.x for point in made) == [1, 2]
