"""Kernels are kept on disk; whatever happens to the files, a whole kernel is run."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from mazurka import cache_folder, processes
from mazurka.cache_folder import Cache
from mazurka.compiled import builders as kernel_builders
from mazurka.compiled import cache as kernel_cache
from mazurka.compiled.memory import Area
from mazurka.deadline import TimeLimitError, time_limit
from mazurka.search import Silent, Statistics
from mazurka.stateful import blocks
from mazurka.stateful.compiled.store import FIRST_CAPACITY, Store


class Listener:
    def __init__(self) -> None:
        self.notices: list[str] = []

    def progress(self, statistics: Statistics) -> None:
        pass

    def message(self, text: str) -> None:
        pass

    def notice(self, text: str) -> None:
        self.notices.append(text)


@cache
def compiled_store() -> tuple[str, bytes]:
    """The `store` kernel, compiled once for all tests here: it takes seconds."""
    return kernel_cache._compile("store")


def find_place() -> Cache:
    place = kernel_cache.find_place()
    assert place is not None
    return place


@pytest.fixture
def builds(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """An empty cache, nothing loaded; the names of the kernels that were built since."""
    compiled, built = compiled_store(), []

    def build(name: str) -> tuple[str, bytes]:
        built.append(name)
        return compiled

    monkeypatch.setenv("MAZURKA_CACHE_DIR", str(tmp_path / "cache"))
    cache_folder.find_private_cache.cache_clear()
    monkeypatch.setattr(kernel_cache, "_compile", build)
    monkeypatch.setattr(kernel_cache, "build_side_by_side", lambda place, groups: None)
    monkeypatch.setattr(kernel_cache, "_said", set())
    monkeypatch.setattr(kernel_cache, "_loaded", {})
    return built


def use_kernel(listener: Listener | None = None) -> None:
    """Load the kernel as a new process would, and let it move a table of four states."""
    kernel_cache._loaded.clear()
    run = kernel_cache.kernel("store", listener or Silent())
    block = Area(blocks.BLOCK_WORDS)
    store = Store(block, 1, inline=True, limit_bytes=1 << 20, observer=Silent())
    entries = [1 << 63 | value for value in (1, 2, 3, 4)]
    for position, entry in enumerate(entries):
        store.table.words[position] = entry
    old, new = store.table, Area(2 * FIRST_CAPACITY)
    block.numbers[blocks.OLD_TABLE], block.numbers[blocks.OLD_CAPACITY] = old.address, old.length
    store.use(new)
    run(block.address)
    assert sorted(word for word in new.words if word) == entries


def kernel_file(folder: Path) -> Path:
    (found,) = folder.glob("store-*.kernel")
    return found


def test_a_kernel_is_built_once_and_then_read(builds: list[str], tmp_path: Path) -> None:
    listener = Listener()
    use_kernel(listener)
    assert builds == ["store"]
    assert len(listener.notices) == 1
    assert kernel_file(tmp_path / "cache").read_bytes().startswith(cache_folder.FORMAT)
    use_kernel(listener)
    assert builds == ["store"]
    assert len(listener.notices) == 1  # nobody has to wait the second time


def test_a_loaded_kernel_is_used_again(builds: list[str]) -> None:
    first = kernel_cache.kernel("store", Silent())
    assert kernel_cache.kernel("store", Silent()) is first
    assert builds == ["store"]


def test_all_missing_kernels_are_announced_once_and_built_together(
    builds: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[str]] = []

    def build_all(place: Cache, groups: list[list[str]]) -> None:
        for group in groups:
            asked.append(group)
            for name in group:
                kernel_cache.write(place, name, *compiled_store())

    monkeypatch.setattr(kernel_cache, "build_side_by_side", build_all)
    listener = Listener()
    for name in ("store", "depth_first", "cartesian"):
        kernel_cache.kernel(name, listener)
    stateful = kernel_cache.KERNELS["stateful"]
    assert sorted(name for group in asked for name in group) == sorted(stateful)
    assert builds == []
    (notice,) = listener.notices
    assert notice.startswith("preparing the engine, first run only (about ")


def test_a_kernel_for_which_nobody_waits(
    builds: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[list[str]] = []
    monkeypatch.setattr(kernel_cache, "start_aside", lambda place, names: started.append(names))
    monkeypatch.setattr(kernel_cache, "_prepared", set())
    address = Area(1).address
    assert kernel_cache.bind_kernel("store", address) is None
    for _ in range(2):
        kernel_cache.prepare_kernel("store")
    assert started == [["store"]], "it is started once"
    assert kernel_cache.write(kernel_cache.find_place(), "store", *compiled_store())
    assert kernel_cache.bind_kernel("store", address) is not None
    assert builds == []


def test_a_kernel_is_compiled_aside(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MAZURKA_CACHE_DIR", str(tmp_path))
    place = find_place()
    kernel_builders.start_aside(place, ["store"])
    kernel_builders.wait_for_left_behind()
    assert kernel_cache.read(place, "store") is not None


def test_what_an_earlier_command_compiles_is_not_started_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    started: list[str] = []
    monkeypatch.setenv("MAZURKA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(kernel_cache, "start_aside", lambda place, names: started.extend(names))
    monkeypatch.setattr(kernel_cache, "_prepared", set())
    place = find_place()
    with place.locked(kernel_cache._entry("nested")):
        kernel_cache.compile_aside("store")
        assert started == []
    kernel_cache.compile_aside("store")
    assert sorted(started) == sorted(kernel_cache.KERNELS["stateful"])


def test_every_kernel_is_listed() -> None:
    """A kernel that is not would be compiled on its own, when somebody already waits."""
    for engine, kernels in kernel_cache.KERNELS.items():
        folder = kernel_cache.SOURCES / engine / "kernels"
        whole = {path.stem for path in folder.glob("*.py") if "\ndef run(" in path.read_text()}
        linked = {name for name in kernel_cache.LINKED_LATER if engine == "stateful"}
        assert set(kernels) | linked == whole


def test_a_process_builds_kernels(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MAZURKA_CACHE_DIR", str(tmp_path))
    kernel_builders.build_side_by_side(find_place(), [["store"]])
    monkeypatch.setattr(kernel_cache, "_loaded", {})
    monkeypatch.setattr(kernel_cache, "_compile", lambda name: pytest.fail("it is there"))
    use_kernel()


def test_a_time_limit_ends_the_wait(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MAZURKA_CACHE_DIR", str(tmp_path))
    sleep = [sys.executable, "-I", "-c", "import time; time.sleep(600)"]
    monkeypatch.setattr(kernel_builders, "python", lambda *_: sleep)
    with time_limit(0.01), pytest.raises(TimeLimitError, match="while preparing the engine"):
        kernel_builders.build_side_by_side(find_place(), [["store"]])
    (process,) = kernel_builders.left_behind
    assert process.poll() is None  # the next run finds what it compiles
    monkeypatch.setattr(kernel_builders, "start", lambda *_: pytest.fail("it is under way"))
    with time_limit(0.01), pytest.raises(TimeLimitError, match="while preparing the engine"):
        kernel_cache._build_missing(find_place(), "store", Silent())
    assert kernel_builders.left_behind == [process]
    process.kill()
    process.wait()
    kernel_builders.left_behind.clear()


def test_a_process_that_cannot_start_does_no_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes.sys, "executable", "")
    kernel_builders.build_side_by_side(find_place(), [["store"]])


def test_processes_have_about_as_much_to_do() -> None:
    costs = {"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0}
    groups = kernel_builders.share_out(costs, 2)
    assert sorted(sum(costs[name] for name in group) for group in groups) == [5.0, 5.0]
    assert kernel_builders.share_out({"a": 1.0}, 2) == [["a"]]


def flipped(content: bytes) -> bytes:
    return content[:-100] + bytes([content[-100] ^ 1]) + content[-99:]


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda content: b"",
    "only the beginning": lambda content: content[:20],
    "truncated": lambda content: content[:-1],
    "half": lambda content: content[: len(content) // 2],
    "one bit": flipped,
    "longer": lambda content: content + b"\0",
    "another format": lambda content: b"x" + content[1:],
    "not a kernel": lambda content: b"nothing of the kind\n" * 50,
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_built_again(builds: list[str], tmp_path: Path, damage: str) -> None:
    use_kernel()
    file = kernel_file(tmp_path / "cache")
    whole = file.read_bytes()
    file.write_bytes(DAMAGES[damage](whole))
    use_kernel()
    assert builds == ["store", "store"]
    assert file.read_bytes() == whole
    use_kernel()
    assert builds == ["store", "store"]


def test_a_directory_that_cannot_be_written_does_no_harm(
    builds: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Below a file there can be no directory, for whoever asks.  A private one takes its place."""
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("MAZURKA_CACHE_DIR", str(tmp_path / "file" / "cache"))
    listener = Listener()
    use_kernel(listener)
    use_kernel(listener)
    assert builds == ["store"]
    assert (tmp_path / "file").read_text() == "in the way"
    assert [notice for notice in listener.notices if "for this run only" in notice] == [
        f"the engine is kept for this run only: {tmp_path / 'file'} is not a directory;"
        " MAZURKA_CACHE_DIR names another place"
    ]


def test_a_disk_that_fails_does_no_harm(builds: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "no space left on device")

    monkeypatch.setattr(cache_folder.os, "replace", full)
    listener = Listener()
    use_kernel(listener)
    assert builds == ["store"]
    assert any("cannot be written" in notice for notice in listener.notices)


def test_the_key_follows_the_sources(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    make_key = kernel_cache._key.__wrapped__
    copy = tmp_path / "sources"
    parts = [Path(*names) for names in (("stateful", "kernels", "store.py"),
             ("stateful", "blocks.py"), ("compiled", "pointers.py"))]  # fmt: skip
    shutil.copytree(kernel_cache.SOURCES / "stateful" / "kernels", copy / "stateful" / "kernels")
    for part in parts[1:]:
        (copy / part).parent.mkdir(exist_ok=True)
        shutil.copy(kernel_cache.SOURCES / part, copy / part)
    before = make_key("stateful")
    monkeypatch.setattr(kernel_cache, "SOURCES", copy)
    assert make_key("stateful") == before
    for part in parts:
        changed = copy / part
        changed.write_text(changed.read_text() + "\n# changed\n")
        assert make_key("stateful") != before
        before = make_key("stateful")
