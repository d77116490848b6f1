import html5lib
import pytest
from html5lib._utils import moduleFactoryFactory
from together import run_together

pytestmark = pytest.mark.mazurka


def test_first_tree_builder():
    """violated: moduleFactory stores an empty dictionary in its cache, and then the module."""
    found = []
    run_together(
        lambda: found.append(html5lib.getTreeBuilder("etree")),
        lambda: found.append(html5lib.getTreeBuilder("etree")),
    )
    assert len(found) == 2


def test_one_module_of_a_name():
    """violated: both find no module in the cache, and make one each."""
    make = moduleFactoryFactory(lambda base: {"base": base})
    found = []
    run_together(lambda: found.append(make(pytest)), lambda: found.append(make(pytest)))
    assert found[0] is found[1]


def test_tree_builder_that_is_made():
    """holds: the cache is only read."""
    first = html5lib.getTreeBuilder("etree")
    found = []
    run_together(
        lambda: found.append(html5lib.getTreeBuilder("etree")),
        lambda: found.append(html5lib.getTreeBuilder("etree")),
    )
    assert found == [first, first]
