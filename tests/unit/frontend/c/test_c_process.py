"""The end of the process ends everything, and threads are joined once."""

from __future__ import annotations

from pathlib import Path

import pytest

import mazurka

pytest.importorskip("clang")

HEAD = """
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern void __VERIFIER_assume(int);
int x, y;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
"""
STARTED = "int main(void) {{ pthread_t t; pthread_create(&t, 0, f, 0); {0} return 0; }}"
EXPLICIT, CIRCUIT = ("full", "stubborn", "source-dpor"), ("bmc", "events")


def check(text: str, tmp_path: Path, **options: object) -> mazurka.Verdict:
    path = tmp_path / "program.c"
    path.write_text(HEAD + text)
    return mazurka.check(path, **{"strategy": "full", **options})  # type: ignore[arg-type]


@pytest.mark.parametrize("wait", ["pause();", "pthread_mutex_lock(&m); pthread_mutex_lock(&m);"])
@pytest.mark.parametrize("strategy", [*EXPLICIT, *CIRCUIT])
def test_who_waits_when_the_process_ends_is_no_deadlock(
    wait: str, strategy: str, tmp_path: Path
) -> None:
    body = "void *f(void *p) { exit(0); }" + STARTED.format(wait)
    found = check(body, tmp_path, strategy=strategy)
    assert found.verdict == "holds"
    assert not any("assume" in note or "nobody moves" in note for note in found.notes)


def test_who_waits_for_ever_beside_one_that_has_not_ended_the_process(tmp_path: Path) -> None:
    """The thread may end without `exit`, and then nobody wakes `main`."""
    body = "void *f(void *p) { if (x) exit(0); return 0; }" + STARTED.format("pause();")
    found = check(body, tmp_path)
    assert found.violation is not None
    assert found.violation.kind == "deadlock"


@pytest.mark.parametrize("strategy", [*EXPLICIT, "bmc"])
def test_process_that_ends_inside_an_atomic_section(strategy: str, tmp_path: Path) -> None:
    body = """
    void *f(void *p) { x = 1; __VERIFIER_atomic_begin(); if (x) abort(); y = 1;
      __VERIFIER_atomic_end(); return 0; }
    """
    found = check(body + STARTED.format("pause();"), tmp_path, strategy=strategy)
    assert found.verdict == "holds"
    assert not any("assume" in note or "nobody moves" in note for note in found.notes)


def test_loop_ends_with_the_process(tmp_path: Path) -> None:
    """A thread that goes round for ever is no hang: `main` returns."""
    assert check("void *f(void *p) { for (;;); }" + STARTED.format(""), tmp_path).verdict == "holds"


def test_no_thread_moves_behind_the_end_in_a_trace(tmp_path: Path) -> None:
    """What fails while `main` is about to return fails before it does."""
    body = "void *f(void *p) { assert(x == 0); return 0; }" + STARTED.format("x = 1;")
    found = check(body, tmp_path)
    assert found.trace is not None
    assert not any(row.operation == "main returns" for row in found.trace.rows)
    (main, other) = found.trace.ending
    assert (main.status, main.reason) == ("finished", "ends the process")
    assert other.status == "failed"


@pytest.mark.parametrize("engine", ["stateful", "symbolic"])
@pytest.mark.parametrize(
    ("thread", "rest", "formula", "fair", "expected"),
    [
        # `main` may return before the thread has come to its assignment.
        ("x = 1;", "", "F x == 1", False, "violated"),
        ("x = 1;", "", "F x == 1", True, "violated"),
        ("x = 1;", "pthread_join(t, 0);", "F x == 1", True, "holds"),
        # A run that an assumption stops is left out; one that the process ends is not.
        ("__VERIFIER_assume(y); x = 1;", "y = 1; pthread_join(t, 0);", "F x == 1", True, "holds"),
        ("__VERIFIER_assume(y); x = 1;", "", "F x == 1", True, "violated"),
        # A fair process ends, and its loops with it; without fairness `main` may never go on.
        ("for (;;) y = !y;", "x = 1;", "F G y == 0 || F G y == 1", True, "holds"),
        ("for (;;) y = !y;", "x = 1;", "F G y == 0 || F G y == 1", False, "violated"),
    ],
)
def test_runs_end_with_the_process(
    thread: str, rest: str, formula: str, fair: bool, expected: str, engine: str, tmp_path: Path
) -> None:
    body = f"void *f(void *p) {{ {thread} return 0; }}" + STARTED.format(rest)
    strategy = "full" if engine == "stateful" else "pdr"
    found = check(body, tmp_path, ltl=formula, fair=fair, engine=engine, strategy=strategy)
    assert found.verdict == expected


@pytest.mark.parametrize(
    "join", ["pthread_join(t, 0);", "for (x = 0; x < 2; x++) pthread_join(t, 0);"]
)
def test_thread_that_is_joined_twice(join: str, tmp_path: Path) -> None:
    twice = join if "for" in join else join * 2
    found = check("void *f(void *p) { return 0; }" + STARTED.format(twice), tmp_path)
    assert found.violation is not None
    assert found.violation.kind == "exception"
    assert "which has been joined already" in found.violation.message


def test_thread_that_two_threads_join(tmp_path: Path) -> None:
    body = """
    pthread_t t;
    void *f(void *p) { return 0; }
    void *g(void *p) { pthread_join(t, 0); return 0; }
    int main(void) { pthread_t u; pthread_create(&t, 0, f, 0); pthread_create(&u, 0, g, 0);
      if (!x) pthread_join(t, 0); pthread_join(u, 0); return 0; }
    """
    for strategy in (*EXPLICIT, *CIRCUIT):
        found = check(body, tmp_path, strategy=strategy)
        assert found.violation is not None
        assert found.violation.kind == "exception"
    body = body.replace("!x", "x")
    assert check(body, tmp_path).verdict == "holds"


def test_thread_of_a_loop_that_is_joined_twice(tmp_path: Path) -> None:
    """A slot that is used again knows nothing of the thread that had it before."""
    body = """
    void *f(void *p) { return 0; }
    int main(void) { pthread_t t;
      for (;;) { pthread_create(&t, 0, f, 0); pthread_join(t, 0);
        if (x) pthread_join(t, 0); x = y; }
    }
    """
    assert check(body, tmp_path, properties=("assert",)).verdict == "holds"
    found = check(body.replace("x = y", "x = 1"), tmp_path)
    assert found.violation is not None
    assert "has been joined already" in found.violation.message
