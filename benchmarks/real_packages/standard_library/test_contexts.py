import contextlib
import contextvars
import warnings
from unittest import mock

import pytest
from together import run_together

pytestmark = pytest.mark.mazurka


class Target:
    value = 1


def test_exit_stack():
    """violated: `close` looks whether there are callbacks, and takes one."""
    stack = contextlib.ExitStack()
    stack.callback(int)
    run_together(stack.close, stack.close)


def test_suppress():
    """holds: `suppress` has no state that changes."""
    ignore = contextlib.suppress(KeyError)

    def look():
        with ignore:
            {}["a"]

    run_together(look, look)


def test_context_variable():
    """holds: each thread has a context of its own."""
    variable = contextvars.ContextVar("variable")

    def work(number):
        variable.set(number)
        assert variable.get() == number

    run_together(lambda: work(1), lambda: work(2))


def test_shared_context():
    """violated: a context that a thread has entered cannot be entered by another one."""
    context = contextvars.copy_context()
    box = []

    def work():
        box.append(1)

    run_together(lambda: context.run(work), lambda: context.run(work))


def test_catch_warnings():
    """violated: the first thread to leave restores the filters, the second those of the first."""
    before = warnings.filters

    def work():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")

    try:
        run_together(work, work)
        assert warnings.filters is before
    finally:
        warnings.filters = before


def test_mock_call_count():
    """violated before 3.13: a mock counted its calls with `+=`, without a lock."""
    double = mock.Mock()
    run_together(double, double)
    assert double.call_count == 2


def test_patch():
    """violated: the second `patch` takes the first one's double for the original."""

    def work():
        with mock.patch.object(Target, "value", 2):
            pass

    try:
        run_together(work, work)
        assert Target.value == 1
    finally:
        Target.value = 1
