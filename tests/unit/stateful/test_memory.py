"""Areas of words."""

from __future__ import annotations

import ctypes
import gc
from pathlib import Path

import pytest

from mazurka.compiled import memory
from mazurka.compiled.memory import Area
from mazurka.errors import MazurkaError

GIGABYTE = 1 << 30


def resident_bytes() -> int:
    status = Path("/proc/self/status")
    if not status.exists():
        pytest.skip("the system does not tell how much memory is in use")
    (line,) = [line for line in status.read_text().splitlines() if line.startswith("VmRSS")]
    return int(line.split()[1]) * 1024


def test_words_begin_as_zero_and_keep_what_is_written() -> None:
    area = Area(100)
    assert area.words.tolist() == [0] * 100
    area.words[99] = 2**64 - 1
    assert area.numbers[99] == -1
    area.numbers[0] = -(2**63)
    assert area.words[0] == 2**63
    with pytest.raises(IndexError):
        area.words[100] = 1


def test_an_area_has_at_least_one_word() -> None:
    assert Area(0).length == 1
    assert Area.of([]).length == 1


def test_of_takes_numbers_with_sign() -> None:
    assert Area.of([3, -4, 5]).numbers.tolist() == [3, -4, 5]
    assert Area.of(value for value in (True, False)).numbers.tolist() == [1, 0]


def test_the_address_is_that_of_the_words_while_the_area_lives() -> None:
    area = Area(1000)
    gc.collect()
    foreign = (ctypes.c_int64 * 1000).from_address(area.address)
    foreign[999] = 77
    assert area.numbers[999] == 77
    area.numbers[0] = 5
    assert foreign[0] == 5


def test_areas_do_not_overlap() -> None:
    areas = [Area(1000) for _ in range(20)]
    for number, area in enumerate(areas):
        area.numbers[0] = area.numbers[999] = number
    assert [area.numbers[999] for area in areas] == list(range(20))
    assert [area.numbers[0] for area in areas] == list(range(20))


def test_memory_is_taken_as_it_is_written() -> None:
    before = resident_bytes()
    area = Area(GIGABYTE // 8)
    area.words[area.length - 1] = 1
    assert resident_bytes() - before < GIGABYTE // 4
    assert area.words[area.length // 2] == 0


@pytest.mark.parametrize("length", [2**58, 2**70])
def test_an_impossible_size_is_an_error_that_says_what_to_do(length: int) -> None:
    with pytest.raises(MazurkaError, match="try a smaller --limit-memory"):
        Area(length)


def test_scattered_areas_are_ordinary_areas() -> None:
    area = Area(memory.HUGE_PAGE // 4, scattered=True)
    area.words[area.length - 1] = 9
    assert sum(area.words[area.length - 10 :]) == 9
