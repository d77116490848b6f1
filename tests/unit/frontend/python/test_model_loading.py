"""Files, constants, names and the form of the program."""

from __future__ import annotations

import contextlib
import tracemalloc
from pathlib import Path

import pytest
from tests.unit.frontend.python.model_exploration import PRELUDE, explore

import mazurka.model
from mazurka.errors import MazurkaError, OptionError
from mazurka.frontend.kit import builder
from mazurka.frontend.python import load_model
from mazurka.frontend.python.elaboration import elaborate
from mazurka.frontend.python.lowering import CALLS
from mazurka.frontend.python.source import parse
from mazurka.ir.passes.validate import validate
from mazurka.ir.program import FIRST_LOCATION, IDLE, Kind, Mode, Role

PHILOSOPHERS = '''"""Dining philosophers that can deadlock."""
from mazurka.model import Array, Int, Mutex, assume, atomic, choose

N = 5
forks = Array(Mutex, N)
door = Mutex()
plates = Array(Int[0, 3], 2)
meals: Int[0, 9] = 0

def philosopher(i):
    global meals
    left, right = forks[i], forks[(i + 1) % N]
    while True:
        with left:
            with right:
                with atomic():
                    meals = (meals + 1) % 10
                assert meals <= 9, "counted too far"

threads = [philosopher(i) for i in range(N)]
'''


def test_philosophers_become_five_threads_with_readable_names() -> None:
    program = elaborate(PHILOSOPHERS, "philosophers.py")
    validate(program)
    assert [thread.name for thread in program.threads] == [f"philosopher({i})" for i in range(5)]
    assert program.constants == {"N": 5}
    names = [cell.name for cell in program.cells if cell.owner is None]
    assert names == [
        "null", *(f"forks[{i}]" for i in range(5)), "door", "plates[0]", "plates[1]", "meals",
    ]  # fmt: skip
    first = program.threads[4].edges[0]
    assert (first.kind, first.text) == (Kind.ACQUIRE, "acquire forks[4]")
    assert (first.span.file, first.span.line) == ("philosophers.py", 14)
    assert program.threads[4].edges[1].text == "acquire forks[0]"


def test_a_constant_can_be_overridden() -> None:
    program = elaborate(PHILOSOPHERS, "philosophers.py", {"N": "2"})
    assert len(program.threads) == 2
    assert program.constants == {"N": 2}


def test_an_unknown_constant_is_an_error_that_lists_the_known_ones() -> None:
    with pytest.raises(OptionError, match=r"no constant `M`.*constants: N"):
        elaborate(PHILOSOPHERS, "philosophers.py", {"M": "2"})
    with pytest.raises(OptionError, match="did you mean `COUNT`"):
        elaborate("COUNT = 1\ndef f(): pass\nthreads = [f()]", "m.py", {"COUNTS": "2"})


def test_a_value_that_is_no_number_is_an_error() -> None:
    with pytest.raises(OptionError, match="`two` is no integer"):
        elaborate(PHILOSOPHERS, "philosophers.py", {"N": "two"})


def test_locations_of_atomic_sections_are_atomic() -> None:
    program = elaborate(PHILOSOPHERS, "philosophers.py")
    thread = program.threads[0]
    inside = [n for n, place in enumerate(thread.locations) if place.mode is Mode.ATOMIC]
    assert len(inside) == 2  # before the read of `meals` and before its write
    assert all(edge.atomic for edge in thread.edges if edge.source in inside)


def test_created_threads_start_idle_and_enter_at_the_first_location() -> None:
    source = PRELUDE + "def f(): pass\ndef g():\n    spawn(f)\nthreads = [g()]"
    program = elaborate(source, "m.py")
    created = program.threads[1]
    assert (created.active, created.entry) == (False, FIRST_LOCATION)
    assert program.cells[created.counter].initial == IDLE
    assert program.cells[created.counter].role is Role.COUNTER


def test_equal_threads_get_different_names() -> None:
    program = elaborate("def f(): pass\nthreads = [f(), f()]", "m.py")
    assert [thread.name for thread in program.threads] == ["f", "f#2"]


@pytest.mark.parametrize(
    ("content", "message", "line"),
    [
        (b"def f(:\n", "not valid Python", 1),
        (b"x = 1\n\xff\xfe", "UTF-8", 2),
        (b"", "empty", 1),
        (b"\x00", "not valid Python", 1),
    ],
)
def test_files_that_are_no_models(tmp_path: Path, content: bytes, message: str, line: int) -> None:
    path = tmp_path / "model.py"
    path.write_bytes(content)
    with pytest.raises(MazurkaError, match=message) as caught:
        load_model(path)
    assert (caught.value.file, caught.value.line) == (str(path), line)


def test_missing_files_and_directories(tmp_path: Path) -> None:
    with pytest.raises(MazurkaError, match="no such file"):
        load_model(tmp_path / "nothing.py")
    with pytest.raises(MazurkaError, match="directory"):
        load_model(tmp_path)


@pytest.mark.parametrize(
    "expression", ["+".join(["x"] * 20_000), "(" * 150 + "x" + ")" * 150, "-" * 5000 + "x"]
)
def test_deep_nesting_is_an_error_and_not_a_crash(expression: str) -> None:
    source = f"x = 1\ndef f():\n    y = {expression}\nthreads = [f()]"
    with contextlib.suppress(MazurkaError):  # some are small enough for Python's parser
        elaborate(source, "m.py")


def test_a_model_that_grows_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builder, "MOST_EDGES", 20_000)
    source = PRELUDE + (
        "def a(n):\n    if choose(0, 1): return n\n    return a(n) + a(n) + a(n) + a(n) + a(n)\n"
        "threads = [a(1)]"
    )
    with pytest.raises(MazurkaError, match="20,000 edges"):
        elaborate(source, "m.py")


def test_every_name_of_the_language_can_be_imported() -> None:
    names = {path.rpartition(".")[2] for path in CALLS if path.startswith("mazurka.model.")}
    names |= {"Int", "Bool", "atomic"}
    assert names - {"PriorityQueue"} <= set(mazurka.model.__all__)


def test_models_are_not_meant_to_be_run() -> None:
    with pytest.raises(RuntimeError, match="mazurka check FILE"):
        mazurka.model.Mutex()


def test_a_list_of_thread_objects_may_be_called_threads() -> None:
    findings = explore(
        """
        x: Int[0, 2] = 0
        def f():
            fetch_add(x, 1)
        threads = []
        for _ in range(2):
            threads.append(threading.Thread(target=f))
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert x == 2
        """
    )
    assert findings.fine


def test_a_long_sum_of_strings_takes_little_memory() -> None:
    """Python's compiler works out sums of literals and keeps every partial sum."""
    source = " + ".join(["'" + "a" * 20_000 + "'"] * 150)
    tracemalloc.start()
    try:
        parse(source, "m.py")
        assert tracemalloc.get_traced_memory()[1] < 10 * len(source)
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("break", "'break' outside loop"),
        ("x = 1 + (yield)", "'yield' outside function"),
        ("x = 2 * (lambda a, a: a)", "duplicate argument"),
        ("match 1 + 1:\n    case 1 + 2j: pass\n    case x: pass\n    case y: pass", "unreachable"),
    ],
)
def test_errors_of_the_compiler_are_found(source: str, message: str) -> None:
    with pytest.raises(MazurkaError, match=f"not valid Python: .*{message}"):
        parse(source, "m.py")
