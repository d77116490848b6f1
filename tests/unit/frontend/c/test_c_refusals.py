"""What C programs may not contain is refused, with its place."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mazurka.checking import load_program
from mazurka.errors import MazurkaError
from mazurka.frontend.c.preprocessing import header_names
from mazurka.search.reading import Reading

pytest.importorskip("clang")

CASES = {
    "int main() { foo(); }": (1, 14, "`foo` is not defined"),
    "int main() { double d = 1; if (d > 0) return 1; }": (1, 32, "floating"),
    'int main() {\n  __asm__("nop");\n}': (2, 3, "assembly is not supported"),
    "int x\nint main() { }": (1, 6, "expected ';'"),
    "int f(void) { return 1; }": (None, None, "there is no function `main`"),
    "#include <nonsense.h>\nint main() { }": (1, 10, "there is no header nonsense.h"),
    "union u { int i; char c; } v;\nint main() { int *p = &v.i; }": (2, 23, "union"),
    "#include <pthread.h>\npthread_mutex_t m, n;\nint main() { m = n; }": (3, 18, "mutex"),
    "#include <pthread.h>\nint main() { pthread_cancel(0); }": (2, 14, "pthread_cancel"),
    'int r(void);\nint f(void) __attribute__((alias("r")));\nint main() { f(); }': (3, 14, "alias"),
    "int f(void) __attribute__((odd)); int main() { }": (1, 28, "attribute `odd` is not known"),
    "typedef int v __attribute__((vector_size(16)));\nint main() { v x; }": (2, 14, "vector"),
    'int main() { int x; __asm__("" : "=r"(x)); }': (1, 21, "assembly is not supported"),
    "int main() { int n = 2, a[2][n];\n return a[1][0]; }": (2, 9, "length of the inner arrays"),
    "int main() {\n#pragma omp parallel\n; }": (2, 1, "OpenMP"),
    '#include <semaphore.h>\nint main() { sem_open("/s", 0); }': (2, 14, "use `sem_init`"),
    "int *p; int main() { __sync_fetch_and_or(&p, 1); }": (1, 22, "makes a number of an address"),
    "int *p, a[2]; int main() { p = a; __sync_add_and_fetch(&p, 1); }": (1, 35, "count bytes"),
    "int main() { pthread_join(1, 2, 3); }": (1, 14, "another number of arguments"),
    "void free(); int main() { free(); }": (1, 27, "another number of arguments"),
    "#include <stdlib.h>\nint main() { atexit((void *)1); }": (2, 14, "the name of a function"),
    'int sscanf(); int main() { int x; sscanf("1", "%d", &x); }': (1, 35, "a known text"),
}


@pytest.mark.parametrize("source", CASES)
def test_refusal_names_the_place(source: str, tmp_path: Path) -> None:
    line, column, words = CASES[source]
    path = tmp_path / "program.c"
    path.write_text(source)
    with pytest.raises(MazurkaError) as caught:
        load_program(str(path), Reading())
    error = caught.value
    assert words in error.message
    assert error.file == str(path)
    assert (error.line, error.column) == (line, column)


def test_macros_can_be_defined(tmp_path: Path) -> None:
    path = tmp_path / "program.c"
    path.write_text("int a[N];\nint main() { return a[0]; }")
    names = [cell.name for cell in load_program(str(path), Reading(definitions={"N": "3"})).cells]
    assert "a[2]" in names
    assert "a[3]" not in names


def test_preprocessed_text_names_the_original_file(tmp_path: Path) -> None:
    original = tmp_path / "original.c"
    original.write_text("/* a comment */\nint main() { foo(); }\n")
    path = tmp_path / "program.i"
    path.write_text('# 2 "original.c"\nint main() { foo(); }\n')
    with pytest.raises(MazurkaError) as caught:
        load_program(str(path), Reading())
    assert (caught.value.file, caught.value.line) == (str(original), 2)


def test_headers_of_gcc_are_read(tmp_path: Path) -> None:
    path = tmp_path / "program.i"
    path.write_text(
        "extern int fclose(void *);\n"
        "extern void *open(void) __attribute__ ((__malloc__ (fclose, 1)));\n"
        "extern int *__errno_location (void) __attribute__ ((__nothrow__ , __leaf__));\n"
        "int main(void) { (*__errno_location ()) = 3; return (*__errno_location ()); }\n"
    )
    cells = [cell.name for cell in load_program(str(path), Reading()).cells]
    assert "errno of main" in cells


def test_the_page_lists_the_headers() -> None:
    page = (Path(__file__).parents[4] / "docs" / "c.md").read_text(encoding="utf-8")
    found = re.search(r"^The headers are (.*?), and files", page, re.MULTILINE | re.DOTALL)
    assert found
    assert re.findall(r"`(\S+)`", found[1]) == header_names()


def test_included_files_keep_their_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "whole.c").write_text('#include "part.c"\n')
    (tmp_path / "inner" / "part.c").write_text('\nint main() { __asm__("nop"); }\n')
    monkeypatch.chdir(tmp_path)
    with pytest.raises(MazurkaError, match=r"^inner/part\.c:2:14: assembly"):
        load_program("inner/whole.c", Reading())
