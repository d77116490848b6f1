"""The scale benchmark: what is measured, what is wrong, what is printed and drawn."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.limits import wait_until

from mazurka.bench import spin
from mazurka.bench.figures import Figures
from mazurka.bench.harness import BenchOptions, Case, Measured
from mazurka.bench.scale import ScaleTable
from mazurka.bench.speed import CASES
from mazurka.errors import MazurkaError

ONE = Figures(states=4_000_000, transitions=9, seconds=2.0, peak_bytes=5_000_000)
FIGURES = {
    "mazurka:1": ONE,
    "mazurka:2": replace(ONE, seconds=1.0),
    "gpu": replace(ONE, seconds=0.01),
    "cluster:2": replace(ONE, seconds=1.25),
    "spin:1": replace(ONE, seconds=8.0, command="gcc; pan"),
    "spin:2": Figures(error="./pan took longer than 60 s"),
}


def row(**changes: Figures) -> Measured[Case]:
    changed = {name.replace("_", ":"): figures for name, figures in changes.items()}
    return Measured(case=CASES[0], constants={"N": 4}, figures={**FIGURES, **changed})


def table(found: Measured[Case], **options: Any) -> ScaleTable:
    return ScaleTable(BenchOptions(**options), rows=[found])


def test_more_and_more_workers_are_asked() -> None:
    assert ScaleTable(BenchOptions(workers=1)).counts == [1]
    assert ScaleTable(BenchOptions(workers=12)).counts == [1, 2, 4, 8, 12]
    assert ScaleTable(BenchOptions(workers=16)).counts == [1, 2, 4, 8, 16]


def test_what_is_not_there_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a GPU, Ray and SPIN the processors are measured, and the reasons are told."""

    def fail(*_: object) -> None:
        raise MazurkaError("there is none")

    monkeypatch.setattr("mazurka.bench.scale.Connection", fail)
    monkeypatch.setattr("mazurka.stateful.device.cuda.CudaDevice.__init__", fail)
    monkeypatch.setattr(spin, "missing", lambda: "spin not found")
    found = ScaleTable(BenchOptions(quick=True, only="peterson", workers=2))
    (measured,) = found.measure()
    assert measured["mazurka:1"].counts == measured["mazurka:2"].counts == (41_124, 119_128)
    assert [name for name, each in measured.figures.items() if each.error] == [
        "gpu", "cluster:2", "spin:2",
    ]  # fmt: skip
    assert found.unknown == [
        "GPU: left out: there is none",
        "2 workers, Ray: left out: there is none",
        "SPIN, 2 cores: left out: spin not found",
    ]
    assert found.wrong == []


def test_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert table(row()).publish() == 0
    printed = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert "2 workers 4,000,000 9 1.000 4.00 2.0x 5 MB" in printed
    assert "GPU 4,000,000 9 0.010 400.00 200x 5 MB" in printed
    assert "2 workers, Ray 4,000,000 9 1.250 3.20 1.6x 5 MB" in printed
    assert "SPIN, 2 cores: left out: ./pan took longer than 60 s" in printed


@pytest.mark.parametrize(("name", "status"), [("cluster_2", 1), ("spin_1", 0)])
def test_other_counts_are_wrong_unless_states_are_hashes(name: str, status: int) -> None:
    found = table(row(**{name: replace(ONE, states=3_999_999)}))
    assert found.publish() == status
    assert len(found.wrong) == status
    assert "*: other counts than one worker's." in found.legend


def test_the_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert table(row(), workers=2).publish(as_json=True) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["benchmark"] == "scale"
    assert (printed["workers"], printed["limit_seconds"]) == (2, 60.0)
    (found,) = printed["rows"]
    assert (found["model"], found["constants"]) == ("philosophers", {"N": 4})
    searches = {(each["tool"], each["workers"]): each for each in found["searches"]}
    assert searches["mazurka", 2]["speed_up"] == 2.0
    assert searches["gpu", None]["states_per_second"] == 400_000_000
    assert searches["spin", 2]["message"] == "./pan took longer than 60 s"
    assert searches["cluster", 2]["agrees"] is True


def test_the_plot(tmp_path: Path) -> None:
    path = tmp_path / "scale.svg"
    assert table(row(), svg=str(path)).publish() == 0
    drawn = path.read_text("utf-8")
    assert "philosophers: 4,000,000 states" in drawn
    for label in (">Mazurka<", ">SPIN<", ">cluster<", ">GPU<", ">100 M<"):
        assert label in drawn


REPORT = """\
State-vector 44 byte, depth reached 51, errors: 0
    41124 states, stored
   119129 transitions (= stored+matched)
   52.003\tshared memory used for hash table (-w22)
    0.195\ttotal non-shared memory usage
   53.766\ttotal shared memory usage
pan: elapsed time 0.41 seconds
"""


def test_spin_by_several_cores_is_read() -> None:
    """SPIN counts the arrival at the initial state as a transition."""
    found = spin.parse_together(REPORT)
    assert found.counts == (41_124, 119_128)
    assert (found.depth, found.seconds) == (51, 0.41)
    assert found.table_bytes == round(53.766 * 2**20)


def test_what_a_tool_has_started_ends_with_it(tmp_path: Path) -> None:
    """A search by several processes that never ends: the process and its child are gone."""
    program = "sleep 600 & echo $! > begun; mv begun child; sleep 600"
    with pytest.raises(spin.SpinError, match="took longer than 1 s"):
        spin._run(["sh", "-c", program], tmp_path, 1.0)
    child = (tmp_path / "child").read_text().strip()

    def is_gone() -> bool:
        state = subprocess.run(["ps", "-o", "stat=", "-p", child], capture_output=True, text=True)
        return state.stdout.strip()[:1] in ("", "Z")

    wait_until(is_gone, "the child is still there")
