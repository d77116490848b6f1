import pytest
import webob
from together import run_together

pytestmark = pytest.mark.mazurka


def test_headers():
    """violated: the list of headers is replaced by a filtered copy; an entry may be lost."""
    r = webob.Response()

    def put(k):
        r.headers[k] = "1"

    run_together(lambda: put("X-A"), lambda: put("X-B"))
    assert r.headers["X-A"] == "1"
    assert r.headers["X-B"] == "1"


def test_app_iter():
    """violated: body is read, then written."""
    r = webob.Response(body=b"")

    def add(x):
        r.body = r.body + x

    run_together(lambda: add(b"a"), lambda: add(b"b"))
    assert sorted(r.body) == sorted(b"ab")


def test_requests():
    """holds: own requests."""
    found = []

    def f(x):
        q = webob.Request.blank(f"/?x={x}")
        found.append(q.params["x"])

    run_together(lambda: f(1), lambda: f(2))
    assert sorted(found) == ["1", "2"]


def test_cookie():
    """holds: each set_cookie appends a header."""
    r = webob.Response()
    run_together(lambda: r.set_cookie("a", "1"), lambda: r.set_cookie("b", "2"))
    assert len(r.headers.getall("Set-Cookie")) == 2
