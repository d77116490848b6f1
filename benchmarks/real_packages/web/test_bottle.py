import bottle
import pytest
from together import run_together

pytestmark = pytest.mark.mazurka


def test_request_of_the_thread():
    """holds: the attributes of `request` are kept for each thread."""

    def serve(path):
        bottle.request.bind({"PATH_INFO": path})
        assert bottle.request.path == path

    run_together(lambda: serve("/a"), lambda: serve("/b"))


def test_cached_property():
    """violated: both threads find no value, and compute."""
    calls = []

    class Page:
        @bottle.cached_property
        def body(self):
            calls.append(1)
            return "text"

    page = Page()
    run_together(lambda: page.body, lambda: page.body)
    assert len(calls) == 1
