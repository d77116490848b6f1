import click
import pytest
from together import run_together

pytestmark = pytest.mark.mazurka


def test_current_context():
    """holds: the stack of contexts belongs to the thread."""
    command = click.Command("demo")

    def work(name):
        with click.Context(command, info_name=name) as context:
            assert click.get_current_context() is context

    run_together(lambda: work("a"), lambda: work("b"))


def test_object_of_a_shared_context():
    """violated: threads share `meta` of one context."""
    context = click.Context(click.Command("demo"))
    context.meta["n"] = 0

    def add():
        context.meta["n"] = context.meta["n"] + 1

    run_together(add, add)
    assert context.meta["n"] == 2
