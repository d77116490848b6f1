"""Texts that are nested deeply or are large: read as they stand, or refused with a place."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.frontend.c.nested_code import make_text

from mazurka import check
from mazurka.errors import MazurkaError, UnsupportedError
from mazurka.frontend.c import read_unit, tree
from mazurka.frontend.c.source import cursors, probing
from mazurka.frontend.c.source.clang_types import MOST_NESTED
from mazurka.frontend.c.source.probing import MOST_PLAIN_TOKENS, find_deepest, is_plain
from mazurka.frontend.c.survey import walk
from mazurka.search.reading import Reading
from mazurka.stack import deep_stack

pytest.importorskip("clang")

MAIN = "int x; int main(void) { %s return 0; }"
SEEDS = 24


def read(tmp_path: Path, text: str) -> tree.TranslationUnit:
    path = tmp_path / "m.c"
    path.write_text(text, encoding="utf-8")
    return read_unit(path, Reading())


@pytest.mark.parametrize("seed", range(SEEDS))
def test_every_statement_of_an_accepted_text_is_read(seed: int, tmp_path: Path) -> None:
    text, count = make_text(seed)
    try:
        with deep_stack():
            body = read(tmp_path, text).functions["main"].read()
    except MazurkaError as refusal:
        refused = refusal
    else:
        refused = None
    if refused is not None:
        assert refused.line is not None
        assert "nest" in refused.message
        return
    found = [
        each.arguments[0].text
        for each in walk(body)
        if isinstance(each, tree.Call) and each.text.startswith("put")
    ]
    assert sorted(map(int, found)) == list(range(count))


def test_what_ends_a_visit_is_raised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An exception in a callback would leave a list of statements that is cut short."""
    unit = read(tmp_path, MAIN % "x = 1; x = 2; x = 3;")

    real = cursors._collect

    def collect(parsed: object, kind: object, visit: Callable[..., int]) -> list[object]:
        class Refusing:
            def __setattr__(self, name: str, value: object) -> None:
                raise RecursionError

        def visit_refusing(callback: Callable[..., int], found: list[object]) -> int:
            return 0 if callback(Refusing(), None, None) else 1

        return real(parsed, lambda each: each, visit_refusing)

    monkeypatch.setattr(cursors, "_collect", collect)
    with pytest.raises(UnsupportedError, match=r"m\.c:1:.*nested too deeply"):
        unit.functions["main"].read()


def test_a_visit_that_was_cut_short_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """An exception before a callback can begin ends the visit, and only its result says so."""
    with pytest.raises(RecursionError):
        cursors._collect(None, lambda each: each, lambda callback, found: 1)


@pytest.mark.parametrize("room", [60, 90, 120, 150, 200, 300])
def test_a_stack_without_room_cuts_nothing_short(room: int, tmp_path: Path) -> None:
    """Wherever the stack ends while a text is read, the text is refused, or read as a whole."""
    unit = read(tmp_path, MAIN % ("{ x = 1; " * 30 + "} " * 30))
    frames, frame = 0, sys._getframe()
    while frame is not None:
        frames, frame = frames + 1, frame.f_back  # type: ignore[assignment]
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(frames + room)
    try:
        body = unit.functions["main"].read()
    except UnsupportedError as refusal:
        body, line = None, refusal.line
    finally:
        sys.setrecursionlimit(before)
    if body is None:
        assert line == 1
    else:
        assert sum(isinstance(each, tree.Assignment) for each in walk(body)) == 30


REPEATED = {
    "after a carriage return": "// a comment ends here\r" + MAIN % ("x = 1;" + "-" * 9_000 + "x;"),
    "unary": MAIN % ("x = " + "- " * 5_000 + "1;"),
    "cast": MAIN % ("x = " + "(int)" * 3_000 + "1;"),
    "sizeof": MAIN % ("x = " + "sizeof " * 3_000 + "x;"),
    "parentheses": MAIN % ("x = " + "(" * 3_000 + "1" + ")" * 3_000 + ";"),
    "blocks": MAIN % ("{" * 3_000 + "}" * 3_000),
    "sum": MAIN % ("x = 1" + "+1" * 3_000 + ";"),
    "choice": MAIN % ("x = " + "x ? 1 : " * 3_000 + "2;"),
    "else": MAIN % ("if (x) ; else " * 3_000 + ";"),
    "loops": MAIN % ("while (x) " * 3_000 + ";"),
    "pointer": "int " + "*" * 3_000 + "p; " + MAIN % "",
    "typedefs": "typedef int t0; "
    + "".join(f"typedef t{at} *t{at + 1}; " for at in range(1_000))
    + "t1000 p; "
    + MAIN % "",
    "calls": "int f0(void) { return 0; } "
    + "".join(f"int f{at + 1}(void) {{ return f{at}(); }} " for at in range(1_500))
    + MAIN % "return f1500();",
}


@pytest.mark.parametrize("kind", REPEATED)
def test_deep_nesting_is_refused_with_its_place(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "m.c"
    path.write_text(REPEATED[kind], encoding="utf-8")
    with pytest.raises(MazurkaError, match=r"m\.c:[12]:\d+: .*nest"):
        check(str(path))


def test_many_labels_of_one_statement_are_read(tmp_path: Path) -> None:
    labels = "".join(f"case {at}: l{at}: " for at in range(2_000))
    body = read(tmp_path, MAIN % f"switch (x) {{ {labels} x = 1; }}").functions["main"].read()
    found = [each for each in walk(body) if isinstance(each, tree.CaseLabel | tree.Labelled)]
    assert len(found) == 4_000
    assert sum(isinstance(each, tree.Assignment) for each in walk(body)) == 1


def test_long_switches_and_tables_give_an_answer(tmp_path: Path) -> None:
    cases = "".join(f"case {at}: x = {at}; break; " for at in range(1_000))
    path = tmp_path / "m.c"
    table = "static const int table[] = {" + "7, " * 2_000 + "};"
    path.write_text(
        "#include <assert.h>\n" + table + MAIN % f"x = table[1999]; switch (x) {{ {cases} }}"
        "assert(x == 7);",
        encoding="utf-8",
    )
    assert check(str(path)).verdict == "holds"


def test_deep_expressions_of_local_variables_are_searched(tmp_path: Path) -> None:
    """What the front end accepts is not too deep for passes, searches and traces."""
    path = tmp_path / "m.c"
    terms = " + y" * 90
    path.write_text(
        "#include <assert.h>\nint main(int argc, char **argv) { int y = argc % 2;\n"
        f"int z = y{terms};\nassert(z < 50); return 0; }}\n",
        encoding="utf-8",
    )
    for strategy in ("full", "bmc"):
        assert check(str(path), strategy=strategy).verdict == "violated"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("int a[] = {[2000000000] = 1};", "too large for memory"),
        ("int a[] = {[1 << 30] = 1};", "too large for memory"),
        ("int a[] = {[0 ... 99999999] = 1};", "too large|elements"),
        ("int a[2000000000];", "about 2,000,000,000 numbers"),
        ("struct s { int a[100000][100000]; } s;", "too large|about 10,000,000,001"),
        ("int a[50000] = {[0 ... 99998] = 1};", "excess|bounds"),
    ],
)
def test_huge_objects_are_refused_at_once(text: str, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "m.c"
    path.write_text(text + MAIN % "", encoding="utf-8")
    with pytest.raises(MazurkaError, match=rf"m\.c:1:\d+: .*({reason})"):
        check(str(path), limit_bytes=300_000_000)


def test_structures_that_double_each_other_are_refused(tmp_path: Path) -> None:
    """libclang would go through all members of members to find the offset of one."""
    path = tmp_path / "m.c"
    doubled = "".join(f"struct s{at + 1} {{ struct s{at} a, b; }}; " for at in range(30))
    path.write_text(f"struct s0 {{ int a; }}; {doubled} struct s30 y; " + MAIN % "")
    with pytest.raises(MazurkaError, match=r"m\.c:1:\d+: .*members"):
        check(str(path))


def test_the_memory_limit_holds_while_a_program_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No search has begun, and none is made."""
    sizes = iter(range(0, 10**15, 10**9))
    monkeypatch.setattr("mazurka.checking.resident_bytes", lambda: next(sizes))
    path = tmp_path / "m.c"
    path.write_text(MAIN % "", encoding="utf-8")
    verdict = check(str(path), limit_bytes=300_000_000)
    assert verdict.verdict == "inconclusive"
    assert verdict.limits == ("memory",)


def test_plain_texts_are_read_in_this_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probing, "run_bounded", None)
    read(tmp_path, "#include <stdio.h>\n#include <pthread.h>\n" + MAIN % "if (x) { x = 1; }")


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("int a[] = {" + "1, " * 5_000 + "};", True),
        ("enum e {" + ", ".join(f"e{at} = {at}" for at in range(2_000)) + "};", True),
        ("int a[] = {[99999] = 1, [0 ... 7] = 2}; struct s s = {.a.b[3] = 1};", True),
        ("int a[] = {[100000] = 1};", False),
        ("enum { N = 1 << 30 }; int a[] = {[N] = 1};", False),
        ("struct s s = {.a[1 << 30] = 1};", False),
        (MAIN % ("x = (int){1}" + " * (int){1}" * 600 + ";"), False),
        (MAIN % ("if (x) { } else " * 600 + ";"), False),
        (MAIN % ("for (;;) " * 600 + ";"), False),
        (MAIN % ("{ x = 1, 2; " * 600 + "}" * 600), False),
        (MAIN % ("x = 1; " * 5_000), True),
    ],
)
def test_only_flat_texts_are_plain(text: str, plain: bool) -> None:
    assert is_plain(text) == plain


def test_the_deepest_place_is_named() -> None:
    flat = "int a;\n" * 10
    deepest, line = find_deepest(flat + "int b = " + "-" * 600 + "1;\n" + flat)
    assert line == 11
    assert deepest > MOST_PLAIN_TOKENS > MOST_NESTED
