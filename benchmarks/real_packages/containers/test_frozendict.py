import pytest
from frozendict import frozendict
from together import run_together

pytestmark = pytest.mark.mazurka


def test_derived():
    """holds: a frozendict never changes."""
    base = frozendict(a=1)
    made = []
    run_together(lambda: made.append(base.set("b", 2)), lambda: made.append(base.set("c", 3)))
    assert base == {"a": 1}
    assert sorted(len(one) for one in made) == [2, 2]
