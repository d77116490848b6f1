"""The exit status: 0 and 1 are verdicts, and nothing else ends with them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import models
import pytest
from process_tree import allow_interrupts, processes_below
from tests.limits import ENDLESS, ENOUGH, wait_until
from tests.warm import WarmCommand

FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="needs /dev/full")
needs_supervision = pytest.mark.skipif(not hasattr(signal, "sigwaitinfo"), reason="needs Linux")

MAZURKA = (sys.executable, "-m", "mazurka")
MODEL = ("check", "holds.py")
TEST = "def test_passes():\n    assert True\n"
COMMANDS = {
    "check": ("check", "holds.py"),
    "check-json": ("check", "holds.py", "--json"),
    "violated": ("check", "lost_update.py"),
    "chart": ("check", "lost_update.py", "--format", "svg"),
    "compare": ("compare", "holds.py", "--engine", "stateful"),
    "test": ("test", "test_passes.py"),
    "test-json": ("test", "test_passes.py", "--json"),
    "replay": ("replay", "saved.json"),
    "export": ("export", "holds.py"),
    "circuit": ("export", "holds.py", "--format", "aiger"),
    "help": ("--help",),
    "help-of-check": ("check", "--help"),
    "version": ("--version",),
    "bench": ("bench", "speed", "--help"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Write what the commands read."""
    folder = tmp_path_factory.mktemp("files")
    (folder / "holds.py").write_text(models.HOLDS)
    (folder / "lost_update.py").write_text(models.LOST_UPDATE)
    (folder / "test_passes.py").write_text(TEST)
    (folder / "program.c").write_text(PROGRAM_IN_C)
    (folder / "endless.py").write_text(ENDLESS)
    return folder


@pytest.fixture(scope="module")
def warm(folder, environment):
    traced = ["check", "lost_update.py", "--trace", "saved.json"]
    with WarmCommand(
        environment, folder, list(MODEL), traced, ["test", "test_passes.py"]
    ) as command:
        yield command


@pytest.fixture
def shell(environment):
    def run(command: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run the command in a shell; `command` says what to do with "$@", which runs Mazurka."""
        return subprocess.run(
            ["bash", "-c", f"set -o pipefail; {command}", "-", *MAZURKA, *arguments],
            capture_output=True,
            text=True,
            env=environment,
            timeout=ENOUGH,
            check=False,
        )

    return run


@needs_full
@pytest.mark.parametrize("name", COMMANDS)
def test_a_full_disk_is_no_verdict(warm, name):
    run = warm.run(*COMMANDS[name], out=str(FULL))
    assert run.status == 3
    assert "the output cannot be written: No space left on device" in run.err


@pytest.mark.parametrize("out", ["closed", "nowhere"])
@pytest.mark.parametrize("name", ["check", "chart", "test", "circuit", "version"])
def test_a_closed_output_is_no_verdict(warm, out, name):
    run = warm.run(*COMMANDS[name], out=out)
    assert run.status == 3
    assert "Traceback" not in run.err


@needs_full
@pytest.mark.parametrize(
    ("out", "err"), [("out", "closed"), ("out", str(FULL)), (str(FULL), str(FULL))]
)
def test_an_error_that_cannot_be_told_is_no_verdict(warm, out, err):
    assert warm.run("check", "missing.py", out=out, err=err).status == 3


def test_who_closes_standard_error_has_an_answer(warm):
    run = warm.run(*MODEL, err="closed")
    assert run.status == 0
    assert run.out.startswith("holds\n")


def test_no_file_takes_the_place_of_a_closed_stream(warm):
    """The first file that is opened gets the number of the closed stream, and all that is printed
    would be written to it."""
    words = ("check", "lost_update.py", "--trace", "again.json")
    run = warm.run(*words, out="closed", err="closed")
    assert run.status == 3
    assert json.loads((warm.folder / "again.json").read_text())


@needs_full
def test_the_streams_of_a_process_that_a_user_starts(folder, shell):
    """All of the above once more, and not in the copy of another process."""
    for how, status in {
        '"$@" > /dev/full': 3,
        '"$@" >&- 2>&-': 3,
        '"$@" 2>&- 0<&-': 0,
    }.items():
        assert shell(f"cd {folder}; {how}", *MODEL).returncode == status, how


ENDS = {
    "aborts": "os.abort()",
    "exits": "os._exit(0)",
    "exits as if violated": "os._exit(1)",
    "is killed": "os.kill(os.getpid(), signal.SIGKILL)",
    "leaves": "sys.exit(0)",
}


@needs_supervision
@pytest.mark.parametrize("end", ENDS)
def test_a_process_that_ends_without_an_answer_has_given_none(warm, end):
    """Native code can do all of this at any moment; here a test does it."""
    file = warm.folder / "test_ends.py"
    file.write_text(f"import os, signal, sys\n\ndef test_ends():\n    pass\n\n{ENDS[end]}\n")
    run = warm.run("test", file.name, "--json")
    assert run.status in (2, 3)
    assert run.err.count("\n") == 1
    assert json.loads(run.out)["verdict"] in ("error", "inconclusive")


@needs_full
@pytest.mark.parametrize("before", ["", "import signal; vars(signal).pop('sigwaitinfo', None)"])
def test_the_same_without_a_process_of_its_own(warm, before):
    assert warm.run(*MODEL, out=str(FULL), before=before).status == 3
    assert warm.run(*MODEL, before=before).status == 0


@needs_supervision
def test_the_command_ends_with_the_process_that_waits_for_it(model, environment):
    command = [sys.executable, "-m", "mazurka", "check", model("large"), "--strategy", "full"]
    run = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment)
    wait_until(lambda: processes_below(run.pid), "the process of the command")
    below = processes_below(run.pid)
    run.kill()
    run.communicate(timeout=ENOUGH)  # the child has the pipe, too: its end is the child's end
    assert below


CONTROLS = textwrap.dedent(
    """
    left = 0


    def write():
        global left
        left = 1
        assert left == 0, "\\x1b[31m \\x07 \\u202e \\x85 \\ud800"


    threads = [write()]
    """
)


@pytest.mark.parametrize("how", ["check", "replay"])
def test_drawings_and_what_is_told_beside_them_have_no_control_characters(
    tmp_path, monkeypatch, mazurka, how
):
    monkeypatch.chdir(tmp_path)
    Path("controls.py").write_text(CONTROLS)
    mazurka("check", "controls.py", "--trace", "saved.json")
    words = ["check", "controls.py"] if how == "check" else ["replay", "saved.json"]
    run = mazurka(*words, "--format", "svg")
    assert run.status == 1, run.err
    assert run.out.startswith("<?xml")
    for text in (run.out, run.err):
        assert all(each.isprintable() or each == "\n" for each in text)


@needs_supervision
def test_ending_a_benchmark_ends_its_processes(environment):
    """Also where the signal goes to the whole group, as by `timeout`."""
    run = subprocess.Popen(
        [sys.executable, "-m", "mazurka", "bench", "speed", "--repeat", "1000", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        text=True,
        preexec_fn=allow_interrupts,
        start_new_session=True,
    )
    wait_until(lambda: run.poll() is not None or processes_below(run.pid)[1:], "its processes")
    below = processes_below(run.pid)
    os.killpg(run.pid, signal.SIGTERM)
    out, err = run.communicate(timeout=ENOUGH)
    assert run.returncode == 3, (out, err)
    assert "Traceback" not in err
    wait_until(lambda: not [each for each in below if Path(f"/proc/{each}").exists()], "their end")


LIMITED = {
    "address space": ("-v 150000", ("check", "holds.py"), 0),
    "address space of a compiler": ("-v 300000", ("check", "program.c"), 0),
    "address space of a test": ("-v 100000", ("test", "test_passes.py", "--workers", "2"), 0),
}
WARM_LIMITED = {
    "open files": ("n", 9, ("check", "lost_update.py", "--strategy", "bmc", "--json"), 1),
    "size of a file": ("f", 512, ("export", "holds.py", "-o", "exported.json"), 0),
    "size of a trace": ("f", 512, ("check", "lost_update.py", "--trace", "new.json"), 1),
    "processor time": ("t", 1, ("check", "endless.py", "--strategy", "full", "--json"), 0),
}
RESOURCES = {"n": "RLIMIT_NOFILE", "f": "RLIMIT_FSIZE", "t": "RLIMIT_CPU"}
PROGRAM_IN_C = "#include <assert.h>\nint main(void) { assert(1 + 1 == 2); return 0; }\n"


@pytest.mark.parametrize("name", LIMITED)
def test_a_limit_of_the_system_is_no_verdict(folder, shell, name):
    """A machine may need less: then there is the right answer."""
    limit, words, right = LIMITED[name]
    run = shell(f'cd {folder}; ulimit {limit}; "$@"', *words)
    assert run.returncode in (right, 3), run.stderr
    assert "Traceback" not in run.stderr
    if run.returncode == 3:
        assert f"ulimit {limit[:2]}" in run.stdout + run.stderr


@pytest.mark.parametrize("name", WARM_LIMITED)
def test_a_limit_that_is_met_later_is_no_verdict(warm, name):
    letter, value, words, right = WARM_LIMITED[name]
    run = warm.run(*words, limit=(RESOURCES[letter], value))
    assert run.status in (right, 3), run.err
    assert "Traceback" not in run.err
    if run.status == 3:
        assert f"ulimit -{letter}" in run.out + run.err
        assert "--json" not in words or json.loads(run.out)["limits"]


NEEDY = """
import os

def test_allocates():
    bytearray(10**13)

def test_opens():
    kept = [open(os.devnull) for _ in range(100)]

def test_raises():
    raise MemoryError("by the program")
"""
GIGABYTE = 1 << 30
NEEDS = {
    # Of what a test needs and does not get, under a limit and without one.
    "allocates": ("RLIMIT_AS", GIGABYTE, 3, 1),
    "opens": ("RLIMIT_NOFILE", 80, 3, 0),
    "raises": ("RLIMIT_AS", GIGABYTE, 1, 1),
}


@pytest.mark.parametrize("name", NEEDS)
def test_a_test_that_fails_because_of_a_limit_is_undecided(warm, name):
    """What the program raises itself is its own failure, and memory that no computer has."""
    (warm.folder / "test_needy.py").write_text(NEEDY)
    kind, value, limited, unlimited = NEEDS[name]
    if kind == "RLIMIT_AS":
        value += warm.address_space()
    words = ("test", f"test_needy.py::test_{name}", "--patience", f"{ENOUGH:g}")
    run = warm.run(*words, limit=(kind, value))
    assert run.status == limited, run.out + run.err
    assert limited != 3 or "ulimit -" in run.out
    assert warm.run(*words).status == unlimited


def test_a_thread_that_finds_no_memory_ends_the_exploration(warm):
    """It ends before its first line: nothing is heard of it."""
    words = ("test", "test_passes.py", "--patience", "2")
    run = warm.run(*words, limit=("RLIMIT_AS", 1 << 20))
    assert run.status == 3, run.out + run.err
    assert "ulimit -v" in run.out + run.err
