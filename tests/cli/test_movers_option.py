"""`--movers`: where transactions learn what locks protect."""

from __future__ import annotations

import pytest

from mazurka import check, compare

MODEL = """\
from mazurka.model import Int, Mutex, protected_by

m = Mutex()
x: Int[0, 2] = 0
protected_by(m, x)


def add():
    global x
    with m:
        x += 1


threads = [add(), add()]
"""


@pytest.fixture
def declared(tmp_path):
    path = tmp_path / "declared.py"
    path.write_text(MODEL, encoding="utf-8")
    return path


@pytest.mark.parametrize("movers", ["inferred", "static", "declared"])
def test_check_takes_them_all_and_says_so(mazurka, declared, movers):
    answer = mazurka("check", str(declared), "--movers", movers, "--json")
    assert answer.status == 0
    assert answer.json["options"]["movers"] == movers


def test_they_are_inferred_unless_given(mazurka, declared):
    assert mazurka("check", str(declared), "--json").json["options"]["movers"] == "inferred"


def test_compare_hands_them_on(mazurka, declared):
    answer = mazurka(
        "compare", str(declared), "--movers", "static", "--strategies", "full", "--json"
    )
    assert [result["options"]["movers"] for result in answer.json["results"]] == ["static"]


def test_from_python(declared):
    assert check(declared, movers="declared").options["movers"] == "declared"
    (verdict,) = compare(declared, strategies=["full"], movers="static").verdicts
    assert verdict.options["movers"] == "static"
