import pytest
from cached_property import cached_property, threaded_cached_property
from together import run_together

pytestmark = pytest.mark.mazurka


class Page:
    def __init__(self):
        self.loads = []

    @cached_property
    def body(self):
        self.loads.append(1)
        return "text"

    @threaded_cached_property
    def head(self):
        self.loads.append(1)
        return "title"


def test_computed_once():
    """violated: `cached_property` has no lock; both threads find nothing and compute."""
    page = Page()
    run_together(lambda: page.body, lambda: page.body)
    assert len(page.loads) == 1


def test_threaded_computed_once():
    """holds: `threaded_cached_property` looks again and computes under its lock."""
    page = Page()
    run_together(lambda: page.head, lambda: page.head)
    assert len(page.loads) == 1
