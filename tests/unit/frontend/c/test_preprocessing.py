"""The preprocessor reads the program and nothing else, within limits of time, memory and length."""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from mazurka import check
from mazurka.deadline import memory_limit
from mazurka.errors import MazurkaError, OptionError
from mazurka.frontend.c import bounded, preprocessing
from mazurka.frontend.c.preprocessing import preprocess
from mazurka.frontend.registry import read_source
from mazurka.report.trace import Trace

PROGRAM = "#include <assert.h>\nint main(void) { assert(%s); return 0; }\n"


@pytest.fixture
def program(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Let this preprocessor be used."""
    chosen: str = request.param
    if chosen == "pcpp":
        monkeypatch.setattr(preprocessing, "find_program", lambda name: None)
    return chosen


@pytest.mark.parametrize("program", ["cpp", "pcpp"], indirect=True)
@pytest.mark.parametrize("name", ["@m.c", "-omade.c", "-.c", "a b.c", 'quo"te\\.c', "new\nline.c"])
def test_a_path_is_never_read_as_options(
    program: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`@m.c` would be a file of options, of which `-fplugin` loads machine code."""
    monkeypatch.chdir(tmp_path)
    Path(name).write_text(PROGRAM % "YES", encoding="utf-8")
    Path("m.c").write_text("-DYES=0 -o written.c\n", encoding="utf-8")
    verdict = check(name, definitions={"YES": "1"})
    assert verdict.verdict == "holds"
    assert sorted(os.listdir()) == sorted([name, "m.c"])


def test_messages_name_the_file_as_the_user_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("@m.c").write_text(PROGRAM % "0", encoding="utf-8")
    verdict = check("@m.c")
    assert verdict.violation is not None
    assert (verdict.violation.file, verdict.violation.line) == ("@m.c", 2)
    Path("@m.c").write_text("#include <none.h>\n", encoding="utf-8")
    with pytest.raises(MazurkaError, match=r"^@m.c:1:10: there is no header none.h"):
        check("@m.c")


def test_a_trace_names_a_program_and_no_options(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A trace file says which program it belongs to."""
    monkeypatch.chdir(tmp_path)
    Path("@m.c").write_text(PROGRAM % "0", encoding="utf-8")
    Path("m.c").write_text("-o written.c\n", encoding="utf-8")
    trace = check("@m.c").trace
    assert isinstance(trace, Trace)
    assert check("@m.c").violation == check("./@m.c").violation or trace.steps
    assert sorted(os.listdir()) == ["@m.c", "m.c"]


@pytest.mark.skipif(shutil.which("cpp") is None, reason="needs cpp")
def test_the_environment_adds_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compilers obey variables that name directories, programs and files to write."""
    folder = tmp_path / "other"
    folder.mkdir()
    (folder / "assert.h").write_text("#define assert(x)\n", encoding="utf-8")
    for name in ("cpp", "cc1", "gcc"):
        (folder / name).write_text(f"#!/bin/sh\ntouch {tmp_path}/executed\n", encoding="utf-8")
        (folder / name).chmod(0o755)
    for name in ("CPATH", "C_INCLUDE_PATH", "COMPILER_PATH", "GCC_EXEC_PREFIX", "TMPDIR"):
        monkeypatch.setenv(name, f"{folder}/")
    for name in ("DEPENDENCIES_OUTPUT", "SUNPRO_DEPENDENCIES"):
        monkeypatch.setenv(name, str(tmp_path / "written"))
    monkeypatch.setenv("CCC_OVERRIDE_OPTIONS", f"+-include {folder}/assert.h")
    monkeypatch.setenv("PATH", f".{os.pathsep}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(folder)
    (folder / "m.c").write_text(PROGRAM % "0", encoding="utf-8")
    assert check("m.c").verdict == "violated"
    assert not (tmp_path / "written").exists()
    assert not (tmp_path / "executed").exists()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("X=1 -o y", "1"),
        ("X\n", "1"),
        ("-o", "1"),
        ("größe", "1"),
        ("X", '1\n#include "/etc/passwd"'),
        ("X", "\0"),
        ("X", "\udcff"),
    ],
)
def test_definitions_are_names_and_texts_of_one_line(name: str, value: str, tmp_path: Path) -> None:
    path = tmp_path / "m.c"
    path.write_text(PROGRAM % "1", encoding="utf-8")
    with pytest.raises(OptionError, match="is no"):
        check(str(path), definitions={name: value})


def write_doubling(path: Path) -> None:
    """Write macros of a few lines that expand to more than any memory holds."""
    lines = ["#define M0 x, x, x, x, x, x, x, x, x, x"]
    lines += [f"#define M{k} " + ", ".join([f"M{k - 1}"] * 10) for k in range(1, 30)]
    path.write_text("\n".join([*lines, "int main(void) { M29; }"]), encoding="utf-8")


@pytest.mark.parametrize("program", ["cpp", "pcpp"], indirect=True)
def test_macros_that_double_each_other_meet_a_limit(
    program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounded, "MOST_BYTES", 128 << 20)
    monkeypatch.setattr(bounded, "MOST_OUTPUT", 1 << 20)
    monkeypatch.setattr(preprocessing, "MOST_OUTPUT", 1 << 20)
    path = tmp_path / "m.c"
    write_doubling(path)
    with pytest.raises(MazurkaError, match=r"more than 1 MiB|out of memory|cannot read"):
        preprocess(str(path), path.read_text(), {}, "lp64")


@pytest.mark.parametrize("program", ["cpp", "pcpp"], indirect=True)
def test_a_file_that_includes_itself_is_refused(program: str, tmp_path: Path) -> None:
    path = tmp_path / "m.c"
    path.write_text('#include "m.c"\n', encoding="utf-8")
    with pytest.raises(MazurkaError, match=r"m.c:1.*(nested|deep)"):
        preprocess(str(path), path.read_text(), {}, "lp64")


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs /dev/zero")
@pytest.mark.parametrize("program", ["cpp", "pcpp"], indirect=True)
def test_a_device_without_an_end_meets_the_memory_limit(program: str, tmp_path: Path) -> None:
    path = tmp_path / "m.c"
    path.write_text('#include "/dev/zero"\n', encoding="utf-8")
    room = 100 << 20
    with (
        memory_limit(room, lambda: 0),
        pytest.raises(MazurkaError, match=r"out of memory|null|MiB"),
    ):
        preprocess(str(path), path.read_text(), {}, "lp64")


@pytest.mark.skipif(not Path("/dev/stdin").exists(), reason="needs /dev/stdin")
def test_including_the_standard_input_waits_for_nothing(tmp_path: Path) -> None:
    path = tmp_path / "m.c"
    path.write_text('#include "/dev/stdin"\nint main(void) { return 0; }\n', encoding="utf-8")
    with suppress(MazurkaError):
        assert check(str(path)).verdict == "holds"


@pytest.mark.skipif(sys.platform == "win32", reason="needs named pipes")
def test_a_pipe_that_nobody_writes_to_does_not_hang(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "pipe")
    path = tmp_path / "m.c"
    path.write_text('#include "pipe"\n', encoding="utf-8")
    monkeypatch.setattr(preprocessing, "LONGEST", 0.3)
    with pytest.raises(MazurkaError, match="may be a pipe"):
        preprocess(str(path), path.read_text(), {}, "lp64")
    assert check(str(path), limit_seconds=0.3, language="c").limits == ("time",)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs /dev/zero")
def test_a_source_without_an_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mazurka.frontend.registry.MOST_BYTES", 1 << 20)
    with pytest.raises(MazurkaError, match="longer than 1 MiB"):
        read_source("/dev/zero")


@pytest.mark.parametrize("name", ["a\0b.c", "\ud800.c"])
def test_a_name_that_no_file_can_have_is_refused(name: str) -> None:
    with pytest.raises(MazurkaError, match="no such name"):
        check(name, language="c")
