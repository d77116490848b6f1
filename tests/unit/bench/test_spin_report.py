"""Reading what SPIN prints, and what is said when it cannot be run."""

from __future__ import annotations

from pathlib import Path

import pytest

from mazurka.bench import spin
from mazurka.bench.figures import Figures

DEPTH_FIRST = """
State-vector 76 byte, depth reached 500, errors: 0
     6560 states, stored
    28425 states, matched
    34985 transitions (= stored+matched)
        0 atomic steps
hash conflicts:     10643 (resolved)

Stats on memory usage (in Megabytes):
    0.601\tequivalent memory usage for states (stored*(State-vector + overhead))
    0.250\tactual memory usage for states (compression: 47.01%)
         \tstate-vector as stored = 25 byte + 20 byte overhead
    0.125\tmemory used for hash table (-w13)
    0.500\tmemory used for DFS stack (-m1000)
    1.000\ttotal actual memory usage

pan: elapsed time 0.02 seconds
pan: rate    328000 states/second
"""


def test_a_report_is_read() -> None:
    """The stack was given room for 1,000 frames and used half, so half of it is not counted."""
    measurement = spin.parse(DEPTH_FIRST, height=1000)
    assert measurement == Figures(
        states=6560,
        transitions=34984,
        depth=500,
        seconds=0.02,
        table_bytes=3 << 17,
        peak_bytes=3 << 18,
    )


def test_a_report_without_a_stack_is_read() -> None:
    lines = [line for line in DEPTH_FIRST.splitlines() if "DFS stack" not in line]
    assert spin.parse("\n".join(lines), height=1000).peak_bytes == 1 << 20


def test_an_error_in_the_model_is_no_measurement() -> None:
    with pytest.raises(spin.SpinError, match="finds an error"):
        spin.parse(DEPTH_FIRST.replace("errors: 0", "errors: 2"), height=1000)


def test_an_unreadable_report_is_said_to_be_one() -> None:
    with pytest.raises(spin.SpinError, match="cannot be read: out of memory"):
        spin.parse("something else\nout of memory\n", height=10)


def test_missing_tools_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spin, "find_program", lambda tool: None if tool == "gcc" else tool)
    assert spin.missing() == "gcc not found; the Debian packages are spin and gcc"
    monkeypatch.setattr(spin, "find_program", lambda tool: None)
    assert spin.missing() == "spin and gcc not found; the Debian packages are spin and gcc"
    monkeypatch.setattr(spin, "find_program", lambda tool: tool)
    assert spin.missing() is None


@pytest.mark.skipif(spin.missing() is not None, reason="spin and gcc are needed")
def test_a_model_spin_rejects_is_one_line(tmp_path: Path) -> None:
    model = tmp_path / "broken.pml"
    model.write_text("active proctype p() { nonsense }\n", encoding="ascii")
    with pytest.raises(spin.SpinError, match=r"^spin failed: .+") as caught:
        spin.build(model, {}, tmp_path, breadth_first=False)
    assert "\n" not in str(caught.value)


@pytest.mark.skipif(spin.missing() is not None, reason="spin and gcc are needed")
def test_a_stack_that_is_too_low_is_raised(tmp_path: Path) -> None:
    """A single process counts to 200: the depth is 200, however small it was thought to be."""
    model = tmp_path / "count.pml"
    text = "byte n;\nactive proctype p() { do :: d_step { n < 200 -> n++ } od }\n"
    model.write_text(text, encoding="ascii")
    verifier = spin.build(model, {}, tmp_path, breadth_first=False)
    guess = Figures(states=201, transitions=200, depth=1, seconds=0, table_bytes=0, peak_bytes=0)
    found = verifier.search(guess)
    assert found.counts == (201, 200)
    assert "-m301" in (found.command or "")
