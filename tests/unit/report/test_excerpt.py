"""The source line of an error: the caret is under the place, whatever the line is made of."""

from __future__ import annotations

from pathlib import Path

import pytest

import mazurka
from mazurka.errors import MazurkaError
from mazurka.report.terminal import ASCII, UNICODE, WIDTH, Glyphs, excerpt


def show(file: str, line: int, column: int, end: int | None, glyphs: Glyphs = UNICODE) -> list[str]:
    error = MazurkaError("no", file=file, line=line, column=column, end_column=end)
    return excerpt(error, glyphs)


@pytest.fixture
def written(tmp_path: Path):
    def write(text: str) -> str:
        path = tmp_path / "model.py"
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


def test_carets_are_under_the_whole_place(written) -> None:
    file = written("x = 0\n    y = x / 2\n")
    assert show(file, 2, 9, 14) == ["  y = x / 2", "      ^^^^^"]


def test_one_caret_where_the_end_is_unknown(written) -> None:
    assert show(written("x = (0\n"), 1, 5, None) == ["  x = (0", "      ^"]


def test_a_place_that_goes_beyond_the_line_ends_with_it(written) -> None:
    assert show(written("abc\n"), 1, 2, 90) == ["  abc", "   ^^"]


def test_a_caret_behind_the_end_of_the_line(written) -> None:
    assert show(written("abc\n"), 1, 4, None) == ["  abc", "     ^"]


def test_tabs_and_wide_characters_do_not_move_the_caret(written) -> None:
    assert show(written("\tx = '語'\ty\n"), 1, 10, 11) == ["  x = '語' y", "           ^"]


def test_unprintable_characters_are_escaped(written) -> None:
    file = written("'\x1b' + y\n")
    assert show(file, 1, 7, 8) == ["  '\\x1b' + y", "           ^"]
    assert show(written("'ü' + y\n"), 1, 7, 8, ASCII) == ["  '\\xfc' + y", "           ^"]


def test_of_a_long_line_the_part_around_the_place_is_shown(written) -> None:
    line, carets = show(written("x = " + "1 + " * 900 + "y / 2\n"), 1, 3605, 3610)
    assert len(line) <= WIDTH + 2
    assert line[carets.index("^") :].startswith("y / 2")
    assert carets.strip() == "^^^^^"


@pytest.mark.parametrize(("line", "column"), [(0, 1), (3, 1), (1, 9), (1, 0)])
def test_a_place_that_is_not_there_shows_nothing(written, line: int, column: int) -> None:
    assert show(written("abc\n"), line, column, None) == []


def test_a_file_that_cannot_be_read_shows_nothing(tmp_path: Path) -> None:
    assert show(str(tmp_path / "none.py"), 1, 1, None) == []
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    assert show(str(tmp_path / "binary"), 1, 1, None) == []


def test_an_error_without_a_column_shows_nothing(written) -> None:
    assert excerpt(MazurkaError("no", file=written("abc\n"), line=1)) == []


@pytest.mark.parametrize("odd", ["\f", "\v", "\x1c", "\x85", "\u2028"])
def test_only_newlines_end_a_line(written, odd: str) -> None:
    assert show(written(f"# a{odd}b\r\nx = 1\n"), 2, 5, 6) == ["  x = 1", "      ^"]


@pytest.mark.parametrize("odd", ["\f", "\u2028"])
def test_a_trace_shows_the_right_lines_behind_odd_characters(tmp_path: Path, odd: str) -> None:
    example = Path(__file__).parents[3] / "examples" / "lost_update.py"
    path = tmp_path / "lost_update.py"
    path.write_text(f"# section\n#{odd}\n{example.read_text('utf-8')}", encoding="utf-8")
    trace = mazurka.check(path, strategy="full").trace
    assert trace is not None
    assert "counter += 1" in {row.source for row in trace.rows}
