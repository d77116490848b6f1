"""How much memory a search may use."""

from __future__ import annotations

from pathlib import Path

import pytest

from mazurka.search import resources
from mazurka.search.resources import available_bytes, default_limit_bytes, resident_bytes


def write_group(folder: Path, limit: str, used: str) -> tuple[tuple[str, str], ...]:
    (folder / "max").write_text(limit)
    (folder / "current").write_text(used)
    return ((str(folder / "max"), str(folder / "current")),)


@pytest.fixture(autouse=True)
def asked_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other tests ask the system for its memory only once."""
    monkeypatch.setattr(resources, "available_bytes", available_bytes)


def test_the_limit_of_a_container_counts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(
        resources, "CONTROL_GROUP_FILES", write_group(tmp_path, "5000000\n", "1000\n")
    )
    assert available_bytes() == 4_999_000
    assert default_limit_bytes() == 4_999_000 // 4 * 3


def test_a_container_that_is_over_its_limit_has_nothing_left(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(resources, "CONTROL_GROUP_FILES", write_group(tmp_path, "10", "20"))
    assert available_bytes() == 0


@pytest.mark.parametrize("limit", ["max", ""])
def test_a_container_without_limit_leaves_the_machine(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, limit: str
) -> None:
    monkeypatch.setattr(resources, "_address_space_bytes", list)
    monkeypatch.setattr(resources, "_machine_bytes", lambda: 12_345)
    monkeypatch.setattr(resources, "CONTROL_GROUP_FILES", write_group(tmp_path, limit, "1000"))
    assert available_bytes() == 12_345


def test_a_limited_address_space_is_shared_out(monkeypatch: pytest.MonkeyPatch) -> None:
    resource = pytest.importorskip("resource")
    monkeypatch.setattr(resource, "getrlimit", lambda _: (6_000, 6_000))
    assert available_bytes() <= 1_000
    monkeypatch.setattr(resource, "getrlimit", lambda _: (resource.RLIM_INFINITY,) * 2)
    monkeypatch.setattr(resources, "CONTROL_GROUP_FILES", ())
    assert available_bytes() > 1_000


def test_resident_memory_is_known() -> None:
    assert resident_bytes() > 1_000_000
