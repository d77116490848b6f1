"""Without NumPy, Numba and llvmlite the commands give the same answers, or say what to install."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.warm import WarmCommand

from mazurka.checking import NOT_COMPILED
from mazurka.extras import MODELS

HIDE = f"sys.modules.update(dict.fromkeys({MODELS.modules!r}))"
EXAMPLES = Path(__file__).parents[2] / "examples"
TEST = """\
import threading

def test_counter():
    counter = [0]
    def add():
        counter[0] += 1
    threads = [threading.Thread(target=add) for _ in range(2)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert counter == [2]
"""
CHECKS = (
    ("lost_update",),
    ("lost_update", "--explore-all", "--counterexample", "switches"),
    ("lost_update", "--property", "race"),
    ("lost_update", "--strategy", "full", "--order", "bfs", "--no-symmetry"),
    ("lost_update", "--strategy", "dpor"),
    ("lost_update", "--store", "bitstate"),
    ("peterson",),
    ("peterson", "--ltl", "G (turn >= 0)"),
    ("philosophers", "-D", "N=3", "--strategy", "stubborn"),
    ("philosophers", "-D", "N=3", "--strategy", "cartesian", "--property", "assert,deadlock"),
    ("philosophers_ordered", "-D", "N=3", "--strategy", "cpc"),
    ("philosophers_ordered", "-D", "N=3", "--strategy", "transactions", "--self-check"),
    ("readers_writers", "--property", "assert,deadlock,hang,race"),
)
REFUSED = (
    ("check", "lost_update", "--engine", "symbolic"),
    ("check", "lost_update", "--strategy", "bdd"),
    ("check", "lost_update", "--store", "disk"),
    ("check", "lost_update", "--strategy", "full", "--order", "bfs", "--workers", "2"),
    ("check", "lost_update", "--cluster", "auto"),
    ("export", "lost_update", "--format", "aiger"),
    ("bench", "speed", "--quick"),
)


@pytest.fixture(scope="module")
def warm(
    environment: Mapping[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[WarmCommand]:
    with WarmCommand(environment, tmp_path_factory.mktemp("light")) as command:
        yield command


@pytest.fixture
def light(warm: WarmCommand) -> Callable[..., Any]:
    """Run a command where the compiler cannot be imported."""
    return lambda *words: warm.run(*words, before=HIDE)


def with_files(words: tuple[str, ...]) -> list[str]:
    return [
        str(EXAMPLES / f"{word}.py")
        if word.isidentifier() and (EXAMPLES / f"{word}.py").exists()
        else word
        for word in words
    ]


@pytest.mark.parametrize("words", CHECKS, ids=" ".join)
def test_checks_have_the_same_answer(words, warm, light):
    command = ["check", *with_files(words), "--deterministic", "--json"]
    plain, native = light(*command), warm.run(*command)
    found, expected = json.loads(plain.out), json.loads(native.out)
    if expected["engine"] == "stateful":
        assert found["notes"][len(expected["notes"]) :] == [NOT_COMPILED]
        expected["notes"].append(NOT_COMPILED)
    assert found == expected
    assert (plain.status, plain.err) == (native.status, "")


@pytest.mark.parametrize("words", REFUSED, ids=" ".join)
def test_what_needs_a_compiler_says_how_to_install_it(words, light):
    ran = light(*with_files(words))
    assert ran.status == 2
    (line,) = ran.err.splitlines()
    assert line.endswith(f": {MODELS.command}")
    assert "internal error" not in line


def test_compare_leaves_out_what_needs_a_compiler(light):
    ran = light("compare", *with_files(("lost_update",)), "--json")
    found = json.loads(ran.out)
    assert ran.status == 0
    assert {each["verdict"] for each in found["results"]} == {"violated"}
    assert {"full", "cpc", "stubborn"} <= {each["strategy"] for each in found["results"]}
    assert all(MODELS.command in each["reason"] for each in found["left_out"])
    assert NOT_COMPILED in found["notes"]


def test_tests_of_threads_and_their_replay(light, tmp_path):
    file = tmp_path / "test_counter.py"
    file.write_text(TEST, encoding="utf-8")
    found = json.loads(light("test", str(file), "--json").out)
    assert found["verdict"] == "violated"
    assert light("replay", found["replay"], "--outside").status == 1


def test_a_counterexample_is_replayed(light, tmp_path):
    trace = str(tmp_path / "trace.json")
    light("check", *with_files(("lost_update",)), "--trace", trace)
    ran = light("replay", trace)
    assert ran.status == 1
    assert "counter ➜ 1" in ran.out


def test_help_needs_no_compiler(light):
    assert "--strategy" in light("check", "--help").out
