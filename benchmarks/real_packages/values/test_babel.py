import pytest
from babel import Locale
from babel.numbers import format_decimal
from together import run_together

pytestmark = pytest.mark.mazurka


def test_format():
    """holds: data of a locale is loaded under a lock, and then only read."""
    shown = []
    run_together(
        lambda: shown.append(format_decimal(1.5, locale="de")),
        lambda: shown.append(format_decimal(2.5, locale="de")),
    )
    assert sorted(shown) == ["1,5", "2,5"]


def test_parse():
    """holds: locales of one name are equal, whether the cache has one or not."""
    made = []
    run_together(lambda: made.append(Locale.parse("de")), lambda: made.append(Locale.parse("de")))
    assert made[0] == made[1]
