"""Functions that appear once with their return sites mean the same as inlined ones."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from tests.corpus.test_c_corpus import EXPECTED, FOLDER, options_of
from tests.unit.frontend.c.against_gcc import find_checksum
from tests.unit.frontend.c.random_code import random_program

import mazurka
from mazurka.frontend.c import load_c, return_sites
from mazurka.search.reading import Reading

pytest.importorskip("clang")

ALWAYS = -1
"""Fewer edges than any program has."""
PROGRAMS = (
    "allocating_functions", "calls_in_expressions", "function_pointers", "local_many_calls",
    "local_stack_frames", "push_without_cas", "recursion", "treiber_push",
)  # fmt: skip
TREE = """
#include <assert.h>
struct node { int key; struct node *left, *right; } a = {1}, b = {2}, root = {4, &a, &b};
int sum(const struct node *at) { return at ? sum(at->left) + at->key + sum(at->right) : 0; }
int main(void) { assert(sum(&root) == 7); return 0; }
"""


def check(name: str) -> str:
    """The verdict of a program of the corpus."""
    path = FOLDER / f"{name}.c"
    text = path.read_text()
    return mazurka.check(path, strategy="full", **options_of(text)).verdict  # type: ignore[arg-type]


def expected_verdict(name: str) -> str:
    found = EXPECTED.match((FOLDER / f"{name}.c").read_text())
    assert found
    return found[1]


@pytest.mark.parametrize("name", PROGRAMS)
def test_verdicts_are_those_of_inlined_calls(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(return_sites, "MOST_INLINED", ALWAYS)
    assert check(name) == expected_verdict(name)


@pytest.mark.parametrize("seed", range(3))
def test_random_code_computes_the_same(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = random_program(Random(seed))
    inlined = find_checksum(source, "lp64", tmp_path)
    monkeypatch.setattr(return_sites, "MOST_INLINED", ALWAYS)
    assert find_checksum(source, "lp64", tmp_path) == inlined


def count_edges(path: Path, depth: int) -> int:
    program = load_c(path, Reading(max_depth=depth))
    return sum(len(thread.edges) for thread in program.threads)


def test_two_calls_at_each_level_do_not_double(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Inlined, each level has twice the edges of the one above; shared, as many."""
    path = tmp_path / "tree.c"
    path.write_text(TREE)
    monkeypatch.setattr(return_sites, "MOST_DOUBLED", return_sites.MOST_INLINED)
    inlined = count_edges(path, 6)
    assert inlined > 3 * count_edges(path, 4)
    monkeypatch.setattr(return_sites, "MOST_DOUBLED", inlined // 2)
    assert count_edges(path, 4) < inlined // 2  # few enough to be inlined
    shared = count_edges(path, 6)
    assert shared < inlined
    assert count_edges(path, 12) < 3 * shared
    assert mazurka.check(path, max_depth=12).verdict == "holds"
