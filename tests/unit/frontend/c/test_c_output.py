"""What output returns, and clocks that never go back."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.frontend.c.test_c_verdicts import verdict

import mazurka

HEAD = """
#include <stdio.h>
#include <time.h>
extern int __VERIFIER_nondet_int(void);
static int say(const char *form, int value) { int n = printf(form, value); return n; }
"""


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (r'int n = printf("a%%b\n"); assert(n == 4 || n < 0);', "holds"),
        (r'int n = printf("a%%b\n"); assert(n == 4);', "violated"),
        (r'int n = printf("a%%b\n"); assert(n < 0);', "violated"),
        (r'int n = printf("a%%b\n"); assert(n >= -1);', "violated"),
        (r'int n = printf("%d|%s|%c|%3u|%x\n", -42, "hey", 1, 7u, 255); assert(n < 0 || n == 17);',
         "holds"),
        (r'int n = printf("%ld %lu\n", -1l << 63, -1ul); assert(n < 0 || n == 42);', "holds"),
        (r'int v = 95; for (; v < 105; v++) { int n = printf("%d", v);'
         r' assert(n < 0 || (v > 99 ? n == 3 : n == 2)); }', "holds"),
        (r'int n = say("%4d\n", 7); assert(n < 0 || n == 5);', "holds"),
        (r'int n = printf("%+d %#x % d|%.3d|%.0d|%#o|%#X", 3, 255, 4, 7, 0, 8, 0);'
         r' assert(n < 0 || n == 21);', "holds"),
        (r'int w = -6; int n = printf("%*d|%.*d|%.*s|%.2s", w, 1, 4, -7, -1, "abc", "abc");'
         r' assert(n < 0 || n == 19);', "holds"),
        (r'int n = printf("%.*d", __VERIFIER_nondet_int() > 0, 0); assert(n != 0);', "violated"),
        (r'int n = printf("ab%f%5d", 1.0, 2); assert(n < 0 || n >= 8);', "holds"),
        (r'int n = printf("ab%f%5d", 1.0, 2); assert(n < 12);', "violated"),
        (r'int n = fprintf(stderr, "%s", "text"); assert(n < 0 || n == 4);', "holds"),
        (r'int n = puts("ab"); assert(n >= -1);', "holds"),
        (r'int n = puts("ab"); assert(n != 7);', "violated"),
        (r'int n = putchar(321); assert(n == 65 || n == EOF);', "holds"),
        (r'int n = fflush(stdout); assert(n == 0 || n == EOF);', "holds"),
    ],
)  # fmt: skip
def test_output_returns_the_number_of_characters(code: str, expected: str, tmp_path: Path) -> None:
    assert verdict(f"{HEAD}int main(void) {{ {code} }}", tmp_path)[0] == expected


LATER = "assert(b.tv_sec > a.tv_sec || b.tv_sec == a.tv_sec && b.tv_nsec >= a.tv_nsec);"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("READ(MONOTONIC, a); READ(MONOTONIC, b);" + LATER, "holds"),
        ("READ(REALTIME, a); READ(REALTIME, b);" + LATER, "violated"),
        ("READ(MONOTONIC, a); READ(MONOTONIC, b);"
         " assert(a.tv_sec == b.tv_sec);", "violated"),
        ("READ(MONOTONIC, a);"
         " assert(a.tv_sec >= 0 && a.tv_nsec >= 0 && a.tv_nsec < 1000000000);", "holds"),
        ("READ(MONOTONIC, a); READ(MONOTONIC, b); assert((b.tv_sec -"
         " a.tv_sec) * 1000000000 + b.tv_nsec - a.tv_nsec >= 0);", "holds"),
        ("clock_t before = clock(); assert(clock() >= before);", "holds"),
        ("clock_t before = clock(); assert(clock() == before);", "violated"),
        ("pthread_t t; READ(MONOTONIC, a); pthread_create(&t, 0, look, 0);"
         " pthread_join(t, 0);" + LATER, "holds"),
        ("pthread_t t; pthread_create(&t, 0, look, 0); READ(MONOTONIC, a);"
         " pthread_join(t, 0);" + LATER, "violated"),
    ],
)  # fmt: skip
def test_a_monotonic_clock_never_goes_back(code: str, expected: str, tmp_path: Path) -> None:
    pytest.importorskip("pysat")
    path = tmp_path / "program.c"
    look = "void *look(void *p) { READ(MONOTONIC, b); return 0; }"
    path.write_text(
        "#include <assert.h>\n#include <pthread.h>\n#include <time.h>\n"
        "#define READ(clock, into) clock_gettime(CLOCK_##clock, &into)\n"
        f"struct timespec a, b;\n{look}\nint main(void) {{ {code} }}"
    )
    assert mazurka.check(path, properties=("assert",)).verdict == expected
