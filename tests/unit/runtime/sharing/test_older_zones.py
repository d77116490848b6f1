"""Time zones that C code remembers: each execution finds those that the first one found."""

from __future__ import annotations

import sys
import zoneinfo
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from tests.unit.runtime.observed_programs import module_of

import mazurka
from mazurka.runtime.sharing.older_zones import read_zones

SOURCE = """
import threading
from zoneinfo import ZoneInfo

ROME = None

def make_both(key):
    made = []
    threads = [threading.Thread(target=lambda: made.append(ZoneInfo(key))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return made

def test_cold():
    first, second = make_both("Mazurka/Rome")
    assert first is second

def test_cleared():
    ZoneInfo.clear_cache()
    test_cold()

def test_known():
    assert all(one is ROME for one in make_both("Mazurka/Rome"))

def test_forgotten():
    assert ZoneInfo("Mazurka/Rome") is ROME
    ZoneInfo.clear_cache()
    threading.Thread(target=int).start()
"""
# A file of the format TZif, version 1, with one type of time: one hour east, called CET.
ZONE = b"TZif" + bytes(16 + 4 * 4) + bytes((0, 0, 0, 1, 0, 0, 0, 4)) + b"\0\0\x0e\x10\0\0CET\0"

pytestmark = pytest.mark.skipif("_zoneinfo" not in sys.modules, reason="C code of zoneinfo")


@pytest.fixture
def zones(tmp_path: Path) -> Iterator[ModuleType]:
    (tmp_path / "Mazurka").mkdir()
    (tmp_path / "Mazurka" / "Rome").write_bytes(ZONE)
    before = zoneinfo.TZPATH
    zoneinfo.reset_tzpath([str(tmp_path)])
    zoneinfo.ZoneInfo.clear_cache()
    yield module_of(tmp_path, SOURCE)
    zoneinfo.reset_tzpath(before)
    zoneinfo.ZoneInfo.clear_cache()


@pytest.mark.parametrize("test", ["test_cold", "test_cleared"])
def test_two_threads_can_make_two_objects(test: str, zones: ModuleType) -> None:
    result = mazurka.explore(getattr(zones, test), preemptions=2)
    assert result.verdict == "violated", result
    assert not read_zones()


@pytest.mark.parametrize("test", ["test_known", "test_forgotten"])
def test_those_that_are_older_stay(test: str, zones: ModuleType) -> None:
    zones.ROME = zones.ZoneInfo("Mazurka/Rome")
    result = mazurka.explore(getattr(zones, test), preemptions=2)
    assert result.verdict == "holds", result
    assert zones.ZoneInfo("Mazurka/Rome") is zones.ROME
