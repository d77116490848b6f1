import pytest
from together import run_together
from werkzeug.datastructures import MultiDict
from werkzeug.local import Local, LocalStack
from werkzeug.utils import cached_property

pytestmark = pytest.mark.mazurka


class Page:
    def __init__(self):
        self.loads = []

    @cached_property
    def body(self):
        self.loads.append(1)
        return "text"


def test_local():
    """holds: each thread has a context of its own."""
    local = Local()

    def use(number):
        local.number = number
        assert local.number == number

    run_together(lambda: use(1), lambda: use(2))


def test_local_stack():
    """holds: each thread has a stack of its own."""
    stack = LocalStack()

    def use(number):
        stack.push(number)
        assert stack.pop() == number

    run_together(lambda: use(1), lambda: use(2))


def test_cached_property():
    """violated: the property has no lock; both threads compute."""
    page = Page()
    run_together(lambda: page.body, lambda: page.body)
    assert len(page.loads) == 1


def test_multi_dict():
    """holds: `add` is `setdefault` of the dictionary, and `append`."""
    form = MultiDict()
    run_together(lambda: form.add("a", 1), lambda: form.add("a", 2))
    assert sorted(form.getlist("a")) == [1, 2]
