import chevron
import pytest
from together import run_together

pytestmark = pytest.mark.mazurka


def test_line_of_an_error():
    """violated: the tokenizer counts lines in a variable of its module."""
    found = []

    def render(text):
        try:
            chevron.render(text, {})
        except chevron.ChevronError as error:
            found.append(str(error).splitlines()[-1])

    run_together(lambda: render("\n\n{{#a}}"), lambda: render("\n\n{{#a}}"))
    assert found[0] == found[1]


def test_render():
    """holds: the variables of the module are used for messages alone."""
    found = []
    run_together(
        lambda: found.append(chevron.render("{{a}}", {"a": 1})),
        lambda: found.append(chevron.render("{{a}}", {"a": 2})),
    )
    assert sorted(found) == ["1", "2"]
