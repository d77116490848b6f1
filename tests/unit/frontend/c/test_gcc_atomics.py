"""Preprocessed files in which gcc's `stdatomic.h` has left its builtins on `_Atomic` types."""

from __future__ import annotations

from pathlib import Path

import pytest

import mazurka
from mazurka.frontend.c.source.gcc_atomics import rewrite_calls

pytest.importorskip("clang")

HEAD = """# 1 "program.c"
typedef unsigned long pthread_t;
extern int pthread_create(pthread_t *, const void *, void *(*)(void *), void *);
extern int pthread_join(pthread_t, void **);
extern void __assert_fail(const char *, const char *, unsigned int, const char *);
typedef _Atomic(int) atomic_int;
typedef _Atomic struct
{
  _Bool __val;
} atomic_flag;
static void check(int x) { if (!x) __assert_fail("x", "program.c", 1, "check"); }
atomic_int count, text[2];
int *_Atomic top;
int numbers[3], plain;
atomic_flag taken = { 0 };
"""
LOAD = "({ __auto_type p = (&count); __typeof__ ((void)0, *p) v; __atomic_load (p, &v, (5)); v; })"
STEPS = {
    f"check({LOAD} == 0)": "holds",
    f"check({LOAD} == 1)": "violated",
    "__atomic_fetch_add ((&count), (2), 5); check(count == 2)": "holds",
    f"__atomic_fetch_add ((&count), ({LOAD} + 3), 5); check(count == 3)": "holds",
    "__atomic_fetch_sub (&text[(1, 1)], ')' - ',', 5); check(text[1] == 3)": "holds",
    "__atomic_fetch_add (&plain, 2, 5); check(plain == 2)": "holds",
    "({ int v = 4; __atomic_store (&count, &v, (5)); }); check(count == 4)": "holds",
    "__atomic_store_n (&count, 5, 5); check(__atomic_load_n (&count, 5) == 5)": "holds",
    "int v = 4, o; __atomic_exchange (&count, &v, &o, 5); check(o == 0 && count == 4)": "holds",
    "check(__atomic_exchange_n (&count, 6, 5) == 0 && count == 6)": "holds",
    "int e = 0, d = 7; check(__atomic_compare_exchange (&count, &e, &d, 0, 5, 5) && count == 7)":
        "holds",
    "int e = 1; check(!__atomic_compare_exchange_n (&count, &e, 7, 0, 5, 5) && e == 0)": "holds",
    "top = numbers; __atomic_fetch_add (&top, 2, 5); check(top == numbers + 2)": "holds",
    "check(!__atomic_test_and_set ((&taken), 5)); check(__atomic_test_and_set ((&taken), 5))":
        "holds",
    "__atomic_test_and_set (&taken, 5); __atomic_clear ((&taken), 5); "
    "check(!__atomic_test_and_set (&taken, 5))": "holds",
}  # fmt: skip


@pytest.mark.parametrize("step", STEPS)
def test_gcc_builtins_on_atomic_types(step: str, tmp_path: Path) -> None:
    path = tmp_path / "program.i"
    path.write_text(f"{HEAD}int main(void) {{ {step}; return 0; }}\n")
    assert mazurka.check(path, strategy="full").verdict == STEPS[step]


@pytest.mark.parametrize(("body", "expected"), [
    ("__atomic_fetch_add ((&count), (1), 5)", "holds"),
    (f"count = {LOAD} + 1", "violated"),
])  # fmt: skip
def test_threads_count(body: str, expected: str, tmp_path: Path) -> None:
    path = tmp_path / "program.i"
    path.write_text(
        f"{HEAD}void *f(void *p) {{ {body}; return 0; }}\n"
        "int main(void) { pthread_t a, b; pthread_create(&a, 0, f, 0); pthread_create(&b, 0, f, 0);"
        " pthread_join(a, 0); pthread_join(b, 0); check(count == 2); return 0; }\n"
    )
    for properties in (None, ["assert", "race"]):
        found = mazurka.check(path, strategy="full", properties=properties)
        assert found.verdict == expected
        assert found.violation is None or found.violation.kind == "assert"


def test_calls_are_written_anew_from_the_inside() -> None:
    text = "__atomic_fetch_add (&a, __atomic_load_n (&b, 5), 5) + __atomic_fetch_add(&c, 1, 5)"
    places = [0, text.index("__atomic_load_n")]
    assert rewrite_calls(text, places) == (
        "__c11_atomic_fetch_add(&a, __c11_atomic_load(&b, 5), 5) + __atomic_fetch_add(&c, 1, 5)"
    )
