import pytest
from markdown_it import MarkdownIt
from together import run_together

pytestmark = pytest.mark.mazurka


def test_first_rules():
    """violated: getRules assigns an empty cache, then fills it; another thread finds no rules."""
    ruler = MarkdownIt().block.ruler
    found = []
    run_together(
        lambda: found.append(len(ruler.getRules(""))),
        lambda: found.append(len(ruler.getRules(""))),
    )
    assert found[0] == found[1]


def test_first_render():
    """violated: a thread that finds no rules raises a RuntimeError."""
    markdown = MarkdownIt("zero")
    found = []
    run_together(
        lambda: found.append(markdown.render("a")), lambda: found.append(markdown.render("b"))
    )
    assert sorted(found) == ["<p>a</p>\n", "<p>b</p>\n"]


def test_rules_that_are_compiled():
    """holds: the cache is only read."""
    ruler = MarkdownIt().inline.ruler
    ruler.getRules("")
    found = []
    run_together(
        lambda: found.append(len(ruler.getRules(""))),
        lambda: found.append(len(ruler.getRules(""))),
    )
    assert found[0] == found[1]


def test_render_with_each_its_own():
    """holds: nothing is shared."""
    found = []
    run_together(
        lambda: found.append(MarkdownIt("zero").render("a")),
        lambda: found.append(MarkdownIt("zero").render("b")),
    )
    assert sorted(found) == ["<p>a</p>\n", "<p>b</p>\n"]
