"""What verdicts on C programs assume, and races that only weak atomic operations exclude."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import mazurka
from mazurka.checking import load_program
from mazurka.ir.serialize import to_json
from mazurka.report.verdict import Verdict
from mazurka.search.reading import Reading

pytest.importorskip("clang")

HEAD = """
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
int data, x, y, r1, r2;
atomic_int flag, count;
atomic_flag taken = ATOMIC_FLAG_INIT;
int *object;
_Atomic(int *) head;
memory_order order = memory_order_relaxed;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
"""
MAIN = "int main(void) {{ pthread_t t; pthread_create(&t, 0, f, 0); {code} return 0; }}"
STORE, LOAD = (
    "atomic_store_explicit(&flag, 1, memory_order_{})",
    ("atomic_load_explicit(&flag, memory_order_{})"),
)


def check(thread: str, main: str, tmp_path: Path, *properties: str) -> Verdict:
    path = tmp_path / "program.c"
    path.write_text(
        HEAD + f"void *f(void *p) {{\n{thread}\nreturn 0;\n}}\n" + MAIN.format(code=main)
    )
    found = mazurka.check(path, strategy="full", properties=properties)
    assert isinstance(found, Verdict)
    return found


RELAXED_LOCK = (
    "int free = 0; while (!atomic_compare_exchange_weak_explicit(&flag, &free, 1,"
    " memory_order_acquire, memory_order_relaxed)) free = 0; data++;\n"
    " atomic_store_explicit(&flag, 0, memory_order_{});"
)
FLAG_LOCK = (
    "while (atomic_flag_test_and_set_explicit(&taken, memory_order_{})) ; data++;\n"
    " atomic_flag_clear_explicit(&taken, memory_order_{});"
)
COUNTED = "atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);\n"


@pytest.mark.parametrize(
    ("thread", "main", "expected"),
    [
        ("data = 1; " + STORE.format("release") + ";",
         f"if ({LOAD.format('acquire')}) data++;", "holds"),
        ("data = 1; atomic_store(&flag, 1);", "if (atomic_load(&flag)) data++;", "holds"),
        ("data = 1; flag = 1;", "if (flag) data++;", "holds"),
        ("data = 1; " + STORE.format("relaxed") + ";",
         f"if ({LOAD.format('relaxed')}) data++;", "inconclusive"),
        ("data = 1; " + STORE.format("relaxed") + ";",
         f"if ({LOAD.format('acquire')}) data++;", "inconclusive"),
        ("data = 1; " + STORE.format("release") + ";",
         f"if ({LOAD.format('relaxed')}) data++;", "inconclusive"),
        ("data = 1; " + STORE.format("release") + ";",
         f"if ({LOAD.format('consume')}) data++;", "inconclusive"),
        ("data = 1; " + STORE.format("release") + ";",
         f"while (!{LOAD.format('relaxed')}) ; data++;", "inconclusive"),
        ("data = 1; atomic_store_explicit(&flag, 1, order);",
         f"if ({LOAD.format('acquire')}) data++;", "inconclusive"),
        ("memory_order o = p ? memory_order_release : memory_order_relaxed; data = 1;"
         " atomic_store_explicit(&flag, 1, o);",
         f"if ({LOAD.format('acquire')}) data++;", "inconclusive"),
        (COUNTED + "data = 1; " + STORE.format("release") + ";",
         f"{COUNTED} if ({LOAD.format('acquire')}) data++;", "holds"),
        (RELAXED_LOCK.format("release"), "f(0);", "holds"),
        (RELAXED_LOCK.format("relaxed"), "f(0);", "inconclusive"),
        (FLAG_LOCK.format("acquire", "release"), "f(0);", "holds"),
        (FLAG_LOCK.format("relaxed", "release"), "f(0);", "inconclusive"),
        (FLAG_LOCK.format("acquire", "relaxed"), "f(0);", "inconclusive"),
        ("data = 1; " + STORE.format("release") + ";",
         "int one = 2; if (!atomic_compare_exchange_strong_explicit(&flag, &one, 3,"
         " memory_order_acquire, memory_order_relaxed) && one == 1) data++;", "inconclusive"),
        ("data = 1; atomic_store_explicit(&head, &data, memory_order_relaxed);",
         "int *p = atomic_load_explicit(&head, memory_order_acquire); if (p) *p = 2;",
         "inconclusive"),
        ("data = 1; atomic_store_explicit(&head, &data, memory_order_release);",
         "int *p = atomic_load_explicit(&head, memory_order_acquire); if (p) *p = 2;", "holds"),
        ("data = 1; __sync_lock_release(&x);",
         "x = 1; while (__sync_lock_test_and_set(&x, 1)) ; data++;", "violated"),
        ("pthread_mutex_lock(&m); data++; pthread_mutex_unlock(&m);" + COUNTED,
         "f(0);", "holds"),
        ("pthread_mutex_lock(&m); data++; pthread_mutex_unlock(&m);" + COUNTED,
         "f(0); pthread_join(t, 0); data++;", "holds"),
        ("data = 1; atomic_fetch_or_explicit(&flag, 1 << 20, memory_order_relaxed);",
         f"if ({LOAD.format('relaxed')}) data++;", "inconclusive"),
        ("data = 1;", COUNTED + "data = 2;", "violated"),
    ],
)  # fmt: skip
def test_relaxed_operations_order_nothing(
    thread: str, main: str, expected: str, tmp_path: Path
) -> None:
    found = check(thread, main, tmp_path, "race")
    assert found.verdict == expected
    if expected == "inconclusive":
        (why,) = found.limits
        assert "`data`" in why
        assert why.count("line ") == 2


def test_assertions_that_fail_without_order_do_not_matter(tmp_path: Path) -> None:
    body = "atomic_store_explicit(&count, 1, memory_order_relaxed);\ndata = 1; "
    body += f"{STORE.format('release')};"
    seen = "assert(atomic_load_explicit(&count, memory_order_relaxed) == 1);"
    read = f"if ({LOAD.format('acquire')}) {{\n{seen}\ndata++; }}"
    assert check(body, read, tmp_path, "race").verdict == "holds"


SEQUENTIAL = "memory is sequentially consistent"
CREATION, ALLOCATION = "creating a thread never fails", "allocations never fail"


@pytest.mark.parametrize(
    ("thread", "main", "properties", "assumed"),
    [
        ("x = 1; r1 = y;", "y = 1; r2 = x; pthread_join(t, 0); assert(r1 || r2);",
         "assert", {SEQUENTIAL, CREATION}),
        ("data = 1; flag = 1;", "if (atomic_load_explicit(&flag, memory_order_acquire))"
         " assert(data);", "assert", {SEQUENTIAL, CREATION}),
        ("flag = 1;", "count = flag;", "assert", {CREATION}),
        ("pthread_mutex_lock(&m); data++; pthread_mutex_unlock(&m);", "f(0);",
         "assert", {CREATION}),
        ("pthread_mutex_lock(&m); data++; pthread_mutex_unlock(&m);",
         "f(0); pthread_join(t, 0); assert(data == 2);", "race", {CREATION}),
        ("pthread_mutex_lock(&m); data++; pthread_mutex_unlock(&m);",
         "f(0); object = malloc(4); free(object);", "assert", {CREATION, ALLOCATION}),
    ],
)  # fmt: skip
def test_the_scope_names_what_is_assumed(
    thread: str, main: str, properties: str, assumed: set[str], tmp_path: Path
) -> None:
    found = check(thread, main, tmp_path, properties)
    assert found.verdict == "holds"
    assert set(found.assumptions) == assumed
    assert found.to_json()["assumptions"] == list(found.assumptions)
    for each in (SEQUENTIAL, CREATION, ALLOCATION):
        assert (each in found.scope) == (each in assumed)


def test_a_violation_assumes_nothing(tmp_path: Path) -> None:
    found = check("x = 1;", "x = 2; assert(x == 2);", tmp_path, "assert")
    assert (found.verdict, found.assumptions) == ("violated", ())


def test_an_exported_program_says_what_its_source_leaves_unordered(tmp_path: Path) -> None:
    thread = "data = 1; " + STORE.format("relaxed") + ";"
    main = f"if ({LOAD.format('relaxed')}) data++;"
    found = check(thread, main, tmp_path, "race")
    exported = tmp_path / "program.json"
    program = load_program(str(tmp_path / "program.c"), Reading())
    exported.write_text(json.dumps(to_json(program)), encoding="utf-8")
    again = mazurka.check(exported, strategy="full", properties=["race"])
    assert isinstance(again, Verdict)
    assert found.verdict == again.verdict == "inconclusive"
    assert again.assumptions == found.assumptions != ()
