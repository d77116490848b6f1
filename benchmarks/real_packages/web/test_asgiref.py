import pytest
from asgiref.local import Local
from together import run_together

pytestmark = pytest.mark.mazurka


def test_local_of_a_thread():
    """holds: each thread has values of its own."""
    local = Local(thread_critical=True)

    def use(value):
        local.value = value
        assert local.value == value

    run_together(lambda: use(1), lambda: use(2))
    assert not hasattr(local, "value")
