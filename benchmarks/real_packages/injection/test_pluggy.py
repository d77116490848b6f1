import pluggy
import pytest
from together import run_together

pytestmark = pytest.mark.mazurka


spec = pluggy.HookspecMarker("demo")
impl = pluggy.HookimplMarker("demo")


class Specification:
    @spec
    def add(self, number):
        """Add one."""


class Plugin:
    @impl
    def add(self, number):
        return number + 1


def make_manager():
    manager = pluggy.PluginManager("demo")
    manager.add_hookspecs(Specification)
    return manager


def test_one_name_twice():
    """violated: `register` looks for the name and stores it in two steps."""
    manager = make_manager()
    refused = []

    def register():
        try:
            manager.register(Plugin(), name="same")
        except ValueError:
            refused.append(1)

    run_together(register, register)
    assert len(refused) == 1


def test_two_calls():
    """holds: a call copies the list of implementations."""
    manager = make_manager()
    manager.register(Plugin())
    found = []
    run_together(
        lambda: found.append(manager.hook.add(number=1)),
        lambda: found.append(manager.hook.add(number=2)),
    )
    assert sorted(found) == [[2], [3]]
