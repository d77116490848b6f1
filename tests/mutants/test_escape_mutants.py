"""Local variables of C programs taken for the thread's own although others reach them.

Beside each mutant stands a program that must catch it: its verdict changes, or it is refused.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import mazurka
from mazurka.errors import MazurkaError
from mazurka.frontend.c import survey
from mazurka.frontend.c.survey.exposure import Exposure

pytest.importorskip("clang")

HEAD = """
#include <assert.h>
#include <pthread.h>
struct pair { int a, b; };
int *kept;
"""
STARTED = """
void *change(void *p) { *(int *)p = 1; return 0; }
int main(void) {
    int x = 0; pthread_t t;
    pthread_create(&t, 0, change, &x);
    int before = x, after = x;
    assert(before == after);
    pthread_join(t, 0);
    return 0;
}"""
KEPT = """
void keep(int *p) { kept = p; }
void *change(void *p) { *kept = 1; return 0; }
int main(void) {
    struct pair x = {0, 0}; pthread_t t;
    keep(&x.b);
    pthread_create(&t, 0, change, 0);
    int before = x.b, after = x.b;
    assert(before == after);
    pthread_join(t, 0);
    return 0;
}"""


def expose_nothing(self: Any, node: object) -> None:
    """No address goes anywhere."""


def always_safe(self: Any, function: Any, position: int) -> bool:
    """No function keeps what it is given."""
    return True


MUTANTS: list[tuple[str, Any, str, Any, str]] = [
    ("addresses for threads", Exposure, "visit", expose_nothing, STARTED),
    ("addresses in arguments", survey.Survey, "is_safe", always_safe, KEPT),
]


def judge(text: str, folder: Path) -> str:
    path = folder / "program.c"
    path.write_text(HEAD + text, encoding="utf-8")
    try:
        return mazurka.check(path, strategy="full", properties=["assert"]).verdict
    except MazurkaError as error:
        return str(error)


@pytest.mark.parametrize("mutant", MUTANTS, ids=[mutant[0] for mutant in MUTANTS])
def test_mutant_is_caught(
    mutant: tuple[str, Any, str, Any, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    _, owner, attribute, replacement, text = mutant
    assert judge(text, tmp_path) == "violated"
    monkeypatch.setattr(owner, attribute, replacement)
    assert judge(text, tmp_path) != "violated"
