import pytest
from together import run_together
from zope.component.globalregistry import BaseGlobalComponents
from zope.interface import Interface, implementer

pytestmark = pytest.mark.mazurka


class ICounter(Interface):
    pass


@implementer(ICounter)
class Counter:
    pass


def test_register_two():
    """violated: the table of an interface is looked for, then made: one registration is lost."""
    reg = BaseGlobalComponents("t")
    run_together(
        lambda: reg.registerUtility(Counter(), ICounter, "a"),
        lambda: reg.registerUtility(Counter(), ICounter, "b"),
    )
    assert reg.queryUtility(ICounter, "a")
    assert reg.queryUtility(ICounter, "b")


def test_query_then_register():
    """violated: both find none, both register."""
    reg = BaseGlobalComponents("t")
    made = []

    def get():
        c = reg.queryUtility(ICounter)
        if c is None:
            c = Counter()
            reg.registerUtility(c, ICounter)
            made.append(c)

    run_together(get, get)
    assert len(made) == 1
