"""Condition variables as POSIX has them: any waiter is woken, and waits may end by themselves."""

from __future__ import annotations

from pathlib import Path

import pytest

from mazurka import check

HEAD = """
#include <pthread.h>
#include <assert.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t c = PTHREAD_COND_INITIALIZER;
int ready, woken;
"""
TAIL = """
int main() {
  pthread_t t, u;
  pthread_create(&t, 0, waits, 0);
  pthread_create(&u, 0, signals, 0);
  pthread_join(t, 0);
  pthread_join(u, 0);
  return 0;
}
"""
WAITS = """
void *waits(void *p) {{
  pthread_mutex_lock(&m);
  {loop} (!ready) pthread_cond_wait(&c, &m);
  assert(ready);
  pthread_mutex_unlock(&m);
  return 0;
}}
"""
SIGNALS = """
void *signals(void *p) {{
  pthread_mutex_lock(&m);
  {first}
  {second}
  pthread_mutex_unlock(&m);
  return 0;
}}
"""
SETS, WAKES = "ready = 1;", "pthread_cond_signal(&c);"


def verdict(folder: Path, loop: str, first: str, second: str) -> tuple[str, str]:
    file = folder / "waiting.c"
    text = HEAD + WAITS.format(loop=loop) + SIGNALS.format(first=first, second=second) + TAIL
    file.write_text(text, encoding="utf-8")
    found = check(file, properties=["assert", "deadlock"])
    return found.verdict, found.violation.kind if found.violation is not None else ""


@pytest.mark.parametrize(
    ("loop", "first", "second", "expected"),
    [
        ("while", SETS, WAKES, ("holds", "")),
        ("if", SETS, WAKES, ("violated", "assert")),  # a spurious wake-up
        ("while", SETS, "", ("violated", "deadlock")),  # nobody wakes it up
        ("while", WAKES, "", ("violated", "deadlock")),  # woken for nothing, it waits again
    ],
)
def test_waiting(
    tmp_path: Path, loop: str, first: str, second: str, expected: tuple[str, str]
) -> None:
    pytest.importorskip("clang")
    assert verdict(tmp_path, loop, first, second) == expected
