import pytest
from itsdangerous import URLSafeSerializer
from together import run_together

pytestmark = pytest.mark.mazurka


def test_dumps():
    """holds: a serializer is not changed by signing."""
    serializer = URLSafeSerializer("secret")
    made = []
    run_together(lambda: made.append(serializer.dumps(1)), lambda: made.append(serializer.dumps(2)))
    assert sorted(map(serializer.loads, made)) == [1, 2]
