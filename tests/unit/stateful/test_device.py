"""Searches on a device: what is compiled for it, and what is said where there is none."""

from __future__ import annotations

import builtins
from array import array
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from tests.soundness.polling import with_polling
from tests.soundness.stopping_programs import stopping_program
from tests.unit.ir.programs import crossed_locks, modular_counters

from mazurka.errors import UnsupportedError
from mazurka.ir.interpreter import Interpreter
from mazurka.ir.native.step import native
from mazurka.ir.program import Program
from mazurka.search import SearchOptions, SearchResult, Silent
from mazurka.stateful.compiled.view import ProgramView
from mazurka.stateful.device import quiet
from mazurka.stateful.device import search as device_search
from mazurka.stateful.device.cuda import NoDeviceError, write_ptx
from mazurka.stateful.device.host import HostDevice
from mazurka.stateful.device.program import CodeTarget, DeviceProgram, Job, Question
from mazurka.stateful.device.quiet import QuietCandidates
from mazurka.stateful.device.search import DeviceSearch
from mazurka.stateful.hangs import QuietStates
from mazurka.stateful.reference.full import explore
from mazurka.stateful.strategies.full import STRATEGY

OPTIONS = SearchOptions(properties=frozenset({"assert"}), order="bfs", limit_bytes=1 << 26)
NOTHING = Question(faults_wanted=0, deadlock_wanted=False, hang_wanted=False, race_wanted=False)


class Told(Silent):
    """Keeps what a user would be told."""

    def __init__(self) -> None:
        self.notices: list[str] = []

    def notice(self, text: str) -> None:
        self.notices.append(text)


def search(program: Program, device: HostDevice, **changes: Any) -> SearchResult:
    options = replace(OPTIONS, **changes)
    return DeviceSearch(native(program), options, Silent(), device).run()


def without_bindings(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = builtins.__import__

    def refuse(name: str, *rest: Any) -> Any:
        if name.startswith("cuda"):
            raise ImportError(name)
        return usual(name, *rest)

    monkeypatch.setattr(builtins, "__import__", refuse)


def test_a_gpu_gets_one_function_with_the_step_inside() -> None:
    program = DeviceProgram(native(modular_counters(2, 5)), NOTHING, Silent())
    text = write_ptx(program.module(Job.EXPAND, CodeTarget.CUDA), (9, 0))
    assert ".visible .entry expand(" in text
    assert ".func" not in text  # nothing is called
    assert ".sys" not in text  # nothing waits for other devices


def test_the_table_grows_and_a_level_is_expanded_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_search, "FIRST_ROOM", 5)
    result = search(modular_counters(3, 5), HostDevice(2))
    assert result.statistics.states == 5**3
    assert result.statistics.transitions == 3 * 5**3
    assert result.limits == ()


def test_memory_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_search, "FIRST_ROOM", 5)
    result = search(modular_counters(3, 7), HostDevice(2), limit_bytes=2000)
    assert result.limits == ("memory",)


def test_a_deadlock_is_found_by_going_back_through_the_levels() -> None:
    result = search(crossed_locks(), HostDevice(2), properties=frozenset({"deadlock"}))
    assert result.violation is not None
    assert result.violation.kind == "deadlock"
    # each thread takes its first lock
    assert len(result.violation.path) == 2


def test_many_states_are_examined_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that the kernel finds quiet are those of plain Python, of all reachable states."""
    monkeypatch.setattr(quiet, "AT_A_TIME", 7)
    quiet_ones = 0
    for seed in range(20):
        rng = Random(seed)
        program = with_polling(with_polling(stopping_program(rng), rng), rng)
        whole = explore(program, races=False, limit=300)
        view = ProgramView(native(program), replace(OPTIONS, properties=frozenset({"hang"})))
        candidates, examined = QuietCandidates(view, Silent()), QuietStates(Interpreter(program))
        packed = array("Q", [word for state in whole.states for word in view.layout.pack(state)])
        expected = [n for n, state in enumerate(whole.states) if examined.examine(state)]
        assert candidates.select(packed) == expected, seed
        quiet_ones += len(expected)
    assert quiet_ones > 10


def test_states_are_read_together_or_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    device = HostDevice(2)
    search = DeviceSearch(native(modular_counters(3, 5)), OPTIONS, Silent(), device)
    search.run()
    wanted = [0, 1, 2, 3, 90, 120]
    expected = [word for position in wanted for word in search.words_at(position)]
    for together, sparse in ((2, 1), (4, 8), (64, 256)):
        monkeypatch.setattr(device_search, "READ_TOGETHER", together)
        monkeypatch.setattr(device_search, "SPARSE", sparse)
        assert search.read_states(wanted).tolist() == expected


def test_too_many_threads_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="65 threads; a search on a device takes at most 64"):
        DeviceProgram(native(modular_counters(65, 2)), NOTHING, Silent())


def test_no_bindings(monkeypatch: pytest.MonkeyPatch) -> None:
    without_bindings(monkeypatch)
    with pytest.raises(NoDeviceError, match=r"pip install 'mazurka-check\[cuda\]'"):
        STRATEGY.run(modular_counters(2, 3), replace(OPTIONS, tuning={"device": "cuda"}), Silent())


def test_auto_falls_back_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    without_bindings(monkeypatch)
    told = Told()
    options = replace(OPTIONS, tuning={"device": "auto"})
    result = STRATEGY.run(modular_counters(2, 3), options, told)
    assert result.statistics.states == 3**2
    assert any("runs on this machine's processors" in text for text in told.notices)
