"""The files that hostile input is made of: those of this project, and what Mazurka writes of them.

What it writes is made by forked processes, so that the process that forks stays as it was.
"""

from __future__ import annotations

import contextlib
import io
import os
import pickle
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from mazurka.checking import load_program
from mazurka.circuit_files import CircuitRequest, build_circuit
from mazurka.cli.failures import run_guarded
from mazurka.cli.main import app
from mazurka.search.reading import Reading
from mazurka.symbolic.aiger.exporting import list_bad
from mazurka.symbolic.aiger.reading import read_aiger
from mazurka.symbolic.reaching import ReachingInputs, WayQuestion, find_way
from mazurka.symbolic.solving.solver import SatSolver
from tests.soundness.hostile.children import explore_test
from tests.soundness.hostile.inputs import (
    LONG_TEST,
    ROOT,
    SMALL_MODEL,
    TEST,
    Seeds,
    Trace,
    find_c_programs,
    find_models,
)

Made = TypeVar("Made")
EXPORTED = ("lost_update", "philosophers", "peterson", "lost_wakeup", "bounded_buffer_if")
TRACED = (
    ("examples/lost_update.py", ()),
    ("examples/philosophers.py", ()),
    ("examples/lost_wakeup.py", ()),
    ("examples/lost_update.py", ("--property", "race")),
    ("examples/peterson.py", ("--ltl", "F false")),
    ("examples/double_checked.py", ("--no-merge",)),
    ("tests/corpus/c/*.c", ()),
)
"""What is checked, with which options; of a pattern the first few that are violated."""
OF_A_PATTERN = 3
CIRCUITS = ("lost_update", "philosophers")


def in_child(make: Callable[[], Made], folder: Path) -> Made:
    """What a function returns in a forked process."""
    result = folder / "made"
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            os.chdir(folder)
            result.write_bytes(pickle.dumps(make()))
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(pid, 0)[1] == 0, f"{make} has failed"
    return pickle.loads(result.read_bytes())  # type: ignore[no-any-return]


def run(*words: str) -> tuple[int, str]:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        return run_guarded(app, words), out.getvalue()


def export_programs() -> tuple[str, ...]:
    found = []
    for name in EXPORTED:
        for more in ((), ("--no-merge",)):
            status, text = run("export", str(ROOT / "examples" / f"{name}.py"), *more)
            assert status == 0
            found.append(text)
    return tuple(found)


def save_traces() -> tuple[Trace, ...]:
    found = []
    for pattern, options in TRACED:
        left = OF_A_PATTERN
        for file in sorted(ROOT.glob(pattern)):
            name = f"model{file.suffix}"
            Path(name).write_text(text := file.read_text("utf-8"), "utf-8")
            trace = Path(f"trace-{len(found)}.json")
            if left and run("check", name, "--trace", str(trace), *options)[0] == 1:
                found.append(Trace(name, text, trace.read_text("utf-8")))
                left -= 1
            if not left:
                break
    assert len(found) > len(TRACED)
    return tuple(found)


def make_tokens() -> tuple[str, ...]:
    Path("test_cell.py").write_text(TEST, "utf-8")
    _, told = run("test", "test_cell.py")
    tokens = {word for word in told.split() if word.startswith("mz1-")}
    assert tokens
    return tuple(sorted(tokens))


def make_circuits() -> tuple[tuple[str, bytes, str], ...]:
    """Models, their circuits in both forms, and the witness that a checker would write."""
    found = []
    for name in CIRCUITS:
        text = (ROOT / "examples" / f"{name}.py").read_text("utf-8")
        Path("model.py").write_text(text, "utf-8")
        for more in ((), ("--ascii",)):
            command = ("export", "model.py", "--format", "aiger", "-o", f"{name}{len(more)}.aig")
            assert run(*command, *more)[0] == 0
            circuit, _ = build_circuit(load_program("model.py", Reading()), CircuitRequest())
            latches = "0" * len(read_aiger(command[-1]).latches)
            for number, literal in enumerate(list_bad(circuit).values()):
                with SatSolver() as solver:
                    way = find_way(WayQuestion(circuit, literal, ()), solver, lambda _: None)
                if isinstance(way, ReachingInputs):
                    frames = ["".join(map(str, frame)) for frame in way.frames]
                    witness = "\n".join(["1", f"b{number}", latches, *frames, ".", ""])
                    found.append((text, Path(command[-1]).read_bytes(), witness))
                    break
    return tuple(found)


def fill_cache() -> tuple[dict[str, bytes], str]:
    """The files of the cache after a test was explored, and what was found."""
    cache = Path("cache").resolve()
    os.environ["MAZURKA_CACHE_DIR"] = str(cache)
    Path("test_long.py").write_text(LONG_TEST, "utf-8")
    answer = explore_test("test_long.py")
    files = [each for each in cache.rglob("*") if each.is_file() and each.stat().st_size < 1 << 20]
    assert files
    return {each.relative_to(cache).as_posix(): each.read_bytes() for each in files}, answer


def warm_up(seeds: Seeds, folder: Path) -> None:
    """Load what most inputs need, which takes longer than most of them."""
    (folder / "model.py").write_text(SMALL_MODEL, "utf-8")
    before = Path.cwd()
    os.chdir(folder)
    try:
        for strategy in ("auto", "full", "cpc", "stubborn", "cartesian", "dpor", "optimistic"):
            run("check", "model.py", "--strategy", strategy)
        for form in ("json", "dot"):
            run("export", "model.py", "--format", form)
        run("export", "model.py", "--format", "aiger", "--ascii")
        run("check", "model.py", "--ltl", "G F x == 1")
        if seeds.c_programs:
            (folder / "program.c").write_text(seeds.c_programs[0], "utf-8")
            run("check", "program.c", "--limit-time", "20")
        import mazurka.runtime.exploring.entry
        import mazurka.runtime.story.report
        import mazurka.runtime.testing.collecting
        import mazurka.runtime.testing.configuration  # noqa: F401
    finally:
        os.chdir(before)


def prepare(folder: Path, kinds: Sequence[str]) -> Seeds:
    """Everything that input of these kinds is made of."""
    models, c_programs = find_models(), find_c_programs()
    programs: tuple[str, ...] = ()
    traces: tuple[Trace, ...] = ()
    tokens: tuple[str, ...] = ()
    circuits: tuple[tuple[str, bytes, str], ...] = ()
    cache: dict[str, bytes] = {}
    answer = ""
    if "json" in kinds:
        programs = in_child(export_programs, folder)
    if {"trace", "command"} & set(kinds):
        traces = in_child(save_traces, folder)
    if "token" in kinds:
        tokens = in_child(make_tokens, folder)
    if "circuit" in kinds:
        circuits = in_child(make_circuits, folder)
    if "cache" in kinds:
        cache, answer = in_child(fill_cache, folder)
    return Seeds(models, c_programs, programs, traces, tokens, circuits, cache, answer)
