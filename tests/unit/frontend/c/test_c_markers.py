"""Line markers and `#line` in the user's file; messages name lines that can be seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from mazurka import check
from mazurka.errors import MazurkaError, UnsupportedError

pytest.importorskip("clang")

FAILS = "int x;\nint main(void) {\n%s\nassert(x == 1); return 0; }\n"
ASSERT = "#include <assert.h>\n"


@pytest.mark.parametrize(
    "text",
    [
        '# 1 "other.c"\n' + ASSERT + "\n" + FAILS % "",
        ASSERT + '#line 50 "grammar.y"\n\n' + FAILS % '#line 70 "grammar.y"',
        ASSERT + "  #  line 3\n\n" + FAILS % "",
        ASSERT + '# 7 "/nowhere/m.c" 2\n\n' + FAILS % "",
    ],
)
def test_messages_name_the_lines_of_the_file(text: str, tmp_path: Path) -> None:
    path = tmp_path / "m.c"
    path.write_text(text, encoding="utf-8")
    verdict = check(str(path))
    assert verdict.violation is not None
    found = verdict.violation
    assert (found.file, found.line) == (str(path), 7)
    assert "memory" in verdict.scope


def test_attributes_behind_markers_and_includes_are_those_of_the_text(tmp_path: Path) -> None:
    """An attribute was cut out of the file that includes, at the place of another file."""
    (tmp_path / "part.c").write_text(
        "/* some words before it */ static int __attribute__((unused)) one(void) { return 1; }\n"
        '#line 300 "part.y"\n'
        "__attribute__((noinline)) int two(void) { return 2; }\n",
        encoding="utf-8",
    )
    path = tmp_path / "m.c"
    path.write_text(
        f'# 1 "made.c"\n{ASSERT}#include "part.c"\n'
        "int main(void) { assert(one() + two() == 3); return 0; }\n",
        encoding="utf-8",
    )
    assert check(str(path)).verdict == "holds"


@pytest.mark.parametrize("line", ["#include <stdio.h>", '  # include "x"', "%:include <time.h>"])
def test_a_preprocessed_file_includes_none(line: str, tmp_path: Path) -> None:
    """The parser would read the headers of the system."""
    path = tmp_path / "m.i"
    path.write_text(f"int x;\n{line}\nint main(void) {{ return 0; }}\n", encoding="utf-8")
    with pytest.raises(UnsupportedError, match=r"m\.i:2: .*includes"):
        check(str(path))


@pytest.mark.parametrize("suffix", [".c", ".i"])
@pytest.mark.parametrize(
    "line",
    [
        '\u0085#include "part.h"',
        '\u3000#include "part.h"',
        '/* */ #include "part.h"',
        '#inc\\\nlude "part.h"',
        '\f%:include "part.h"',
    ],
)
def test_the_parser_includes_no_file_by_itself(line: str, suffix: str, tmp_path: Path) -> None:
    """The parser takes more characters for white space than gcc, and read the file: an internal
    error, since lines were looked for in the wrong text."""
    part, path = tmp_path / "part.h", tmp_path / f"m{suffix}"
    part.write_text("\n" * 50 + "int found(void);\n", encoding="utf-8")
    line = line.replace("part.h", str(part))
    path.write_text(f"int x;\n{line}\nint main(void) {{ return x; }}\n", encoding="utf-8")
    if suffix == ".c" and line.isascii():
        assert check(str(path)).verdict == "holds"
    else:
        with pytest.raises(MazurkaError, match=r"m\.[ci]:[23]\b.* includes? "):
            check(str(path))


@pytest.mark.parametrize("use", ["int a = __LINE__;", 'const char *a = __FILE__ "x";'])
def test_the_place_that_a_directive_names_is_not_asked_for(use: str, tmp_path: Path) -> None:
    """The directives are left out, so `__LINE__` would have another value."""
    path = tmp_path / "m.c"
    path.write_text(f'int x;\n#line 1000 "gen.y"\n{use}\nint main(void) {{ return x; }}\n', "utf-8")
    with pytest.raises(UnsupportedError, match=r"m\.c:3: `__(LINE|FILE)__` is used beside"):
        check(str(path))
    path.write_text(f"int x;\n{use}\nint main(void) {{ return x; }}\n", encoding="utf-8")
    assert check(str(path)).verdict == "holds"
    path.write_text("#define L __LINE__\n#line 1000\nint a = L;\nint main(void) {}\n", "utf-8")
    with pytest.raises(UnsupportedError, match=r"m\.c:1: `__LINE__` is used beside"):
        check(str(path))


CALLS = (
    "pthread_mutex_lock(0)", "pthread_mutex_unlock(0)", "pthread_mutex_init(0, 0)",
    "pthread_mutex_destroy(0)", "pthread_mutex_trylock(0)", "pthread_cond_wait(0, 0)",
    "pthread_cond_signal(0)", "pthread_cond_init(0, 0)", "pthread_rwlock_rdlock(0)",
    "pthread_rwlock_unlock(0)", "pthread_barrier_wait(0)", "pthread_barrier_init(0, 0, 2)",
    "pthread_spin_lock(0)", "pthread_create(0, 0, run, 0)", "pthread_create(&made, 0, 0, 0)",
    "pthread_create(&made, 0, !!run, 0)", "thrd_create(&made, (int (*)(void *))1, 0)",
    "pthread_once(0, once)",
    "pthread_key_create(0, 0)", "pthread_attr_init(0)", "pthread_mutexattr_settype(0, 1)",
    "sem_wait(0)", "sem_post(0)", "sem_init(0, 0, 1)", "mtx_lock(0)", "mtx_init(0, mtx_plain)",
    "cnd_wait(0, 0)", "cnd_signal(0)", "call_once(0, once)", "thrd_create(0, start, 0)",
    "pthread_mutex_lock((pthread_mutex_t *)8)", "pthread_mutex_lock(none)",
)  # fmt: skip


def test_functions_of_threads_fail_where_they_are_given_no_object(tmp_path: Path) -> None:
    """A null pointer is a fault of the program where it is reached, and no reason to refuse it."""
    path = tmp_path / "m.c"
    for call in CALLS:
        path.write_text(
            "#include <pthread.h>\n#include <semaphore.h>\n#include <threads.h>\n"
            "pthread_mutex_t *none; pthread_t made;\n"
            "void once(void) {} int start(void *p) { return 0; }\n"
            f"void *run(void *p) {{ return 0; }}\nint main(void) {{ {call}; return 0; }}\n",
            encoding="utf-8",
        )
        verdict = check(str(path), strategy="full")
        assert verdict.violation is not None, call
        assert verdict.violation.kind == "memory", call
