import pytest
from together import run_together
from tornado import template
from tornado.httputil import HTTPHeaders
from tornado.util import ObjectDict

pytestmark = pytest.mark.mazurka


def test_headers_add():
    """violated: both see no such header, one value is lost."""
    h = HTTPHeaders()
    run_together(lambda: h.add("A", "1"), lambda: h.add("A", "2"))
    assert sorted(h.get_list("A")) == ["1", "2"]


def test_headers_two_names():
    """holds: different headers."""
    h = HTTPHeaders()
    run_together(lambda: h.add("A", "1"), lambda: h.add("B", "2"))
    assert h["A"] == "1"
    assert h["B"] == "2"


def test_object_dict():
    """violated: rmw."""
    d = ObjectDict(n=0)

    def f():
        d.n = d.n + 1

    run_together(f, f)
    assert d.n == 2


def test_template():
    """holds: a template is compiled, and generates by itself."""
    t = template.Template("hello {{ name }}")
    found = []
    run_together(
        lambda: found.append(t.generate(name="a")), lambda: found.append(t.generate(name="b"))
    )
    assert sorted(found) == [b"hello a", b"hello b"]


def test_loader():
    """holds: the loader has a lock."""
    loader = template.DictLoader({"a": "x{{ n }}"})
    found = []
    run_together(lambda: found.append(loader.load("a")), lambda: found.append(loader.load("a")))
    assert found[0] is found[1]
