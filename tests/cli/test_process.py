"""The command as a process: start-up, interrupts, closed pipes."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from process_tree import (
    SEARCHES,
    allow_interrupts,
    processes_below,
    wait_until_busy,
    wait_until_told,
)
from tests.limits import ENOUGH, FACTORS, wait_until


def test_help_needs_no_numerical_library(environment):
    code = (
        "import sys\n"
        "from mazurka.cli.main import app\n"
        "from mazurka.cli.failures import run_guarded\n"
        "run_guarded(app, ['--help'])\n"
        "heavy = {'numba', 'llvmlite', 'numpy'} & set(sys.modules)\n"
        "sys.exit(f'imported {heavy}' if heavy else 0)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    assert "check" in run.stdout


def test_a_small_model_needs_no_more_than_it_must(environment, tmp_path):
    """Each of these takes a noticeable part of the time of a small check."""
    file = tmp_path / "small.py"
    file.write_text("x = 0\n\n\ndef write():\n    global x\n    x = 1\n\n\nthreads = [write()]\n")
    code = (
        "import sys\n"
        "from mazurka.cli.main import app\n"
        "from mazurka.cli.failures import run_guarded\n"
        f"words = ['check', {str(file)!r}, '--limit-time=60', '--max-depth', '9']\n"
        "status = run_guarded(app, words)\n"
        "heavy = {'pydantic', 'numba', 'numpy', 'multiprocessing', 'importlib.metadata',\n"
        "  'mazurka.stateful.searches.cartesian', 'mazurka.stateful.searches.persistent',\n"
        "  'mazurka.analysis.discipline'}\n"
        "print(status, sorted(heavy & set(sys.modules)), file=sys.stderr)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert run.stderr.splitlines()[-1] == "0 []"


def test_tests_of_threads_need_no_checker_of_models(environment, tmp_path):
    file = tmp_path / "test_late.py"
    file.write_text(
        "def test_skips():\n    import unittest\n    raise unittest.SkipTest('not today')\n"
    )
    code = (
        "import sys\n"
        "from mazurka.cli.main import app\n"
        "from mazurka.cli.failures import run_guarded\n"
        f"status = run_guarded(app, ['test', {str(file)!r}, '--json'])\n"
        "heavy = {'numba', 'llvmlite', 'numpy', 'mazurka.ir', 'mazurka.stateful'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert run.stderr == "[]\n"
    assert json.loads(run.stdout)["scope"] == "skipped: not today"


@pytest.mark.parametrize("command", ["check", "compare", "replay", "export", "bench"])
def test_every_command_has_help_with_an_example(copy, command):
    run = copy(command, "--help")
    assert run.returncode == 0
    assert f"Example: mazurka {command}" in " ".join(run.stdout.split()) or command == "replay"
    assert "Example: mazurka" in run.stdout


def test_version(process):
    import mazurka

    assert process("--version").stdout == f"mazurka {mazurka.__version__}\n"


def test_without_arguments_there_is_help(process):
    run = process()
    assert run.returncode == 0
    assert "Usage: mazurka" in run.stdout


@pytest.mark.parametrize("name", ["holds", "deadlock"])
def test_nothing_on_stderr_that_is_no_terminal(process, model, name):
    run = process("check", model(name))
    assert run.stderr == ""
    assert "\x1b" not in run.stdout


def test_a_closed_pipe_is_no_verdict(model, environment):
    command = [sys.executable, "-m", "mazurka", "check", model("holds"), "--json"]
    run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
    run.stdout.close()
    message = run.stderr.read()
    run.stderr.close()
    assert run.wait(timeout=ENOUGH) == 3
    assert message == b""


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_interrupting_a_search_gives_partial_statistics(model, environment, tmp_path, sent):
    command = [sys.executable, "-c", SEARCHES, "check", model("large"), "--strategy", "full"]
    said = tmp_path / "stderr"
    with said.open("w") as stderr:
        run = subprocess.Popen(
            [*command, *(["--store", "disk", "--store-dir", "."] * (sent == signal.SIGTERM))],
            stdout=subprocess.PIPE,
            stderr=stderr,
            env=environment,
            text=True,
            preexec_fn=allow_interrupts,
        )
        wait_until_told(run, said, "searching")
        run.send_signal(sent)
        out, _ = run.communicate(timeout=ENOUGH)
    err = said.read_text()
    assert run.returncode == 3, (out, err)
    assert "Traceback" not in err
    assert "interrupted" in out + err
    assert not list(tmp_path.glob("mazurka-*"))


INTERRUPTED = """
import mazurka.cli.main
from mazurka.__main__ import main

mazurka.cli.main.main = lambda: exec("raise KeyboardInterrupt")
main()
"""


def test_an_interrupt_while_classes_are_made_is_an_answer(environment, tmp_path):
    """Python remembers an interrupt inside of an `exec` of a text, also if it has been caught."""
    (tmp_path / "interrupted.py").write_text(INTERRUPTED)
    command = [sys.executable, "-m", "interrupted"]
    run = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True)
    assert (run.returncode, run.stderr) == (3, b"mazurka: interrupted\n")


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_interrupting_a_solver_leaves_no_process(tmp_path, environment):
    pytest.importorskip("pysat")
    file = tmp_path / "factors.py"
    file.write_text(FACTORS)
    run = subprocess.Popen(
        [sys.executable, "-m", "mazurka", "check", str(file), "--strategy", "bmc", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        text=True,
        preexec_fn=allow_interrupts,
    )
    try:
        wait_until(lambda: processes_below(run.pid)[1:] or run.poll() is not None, "a solver")
        solvers = processes_below(run.pid)[1:]  # the first one is the command itself
        wait_until_busy(run, solvers[0])
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=ENOUGH)
    finally:
        run.kill()
    assert (run.returncode, err) == (3, "")
    found = json.loads(out)
    assert (found["verdict"], found["limits"]) == ("inconclusive", ["interrupted"])
    assert found["stats"]["seconds"] > 0
    assert not [each for each in solvers if Path(f"/proc/{each}").exists()]


LONG = """
import threading

class Cell:
    value = 0

def test_long():
    cell = Cell()
    def count():
        for _ in range(6):
            cell.value += 1
    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_interrupting_an_exploration_gives_partial_statistics(tmp_path, environment, sent):
    file = tmp_path / "test_long.py"
    file.write_text(LONG)
    said = tmp_path / "stderr"
    with said.open("w") as stderr:
        run = subprocess.Popen(
            [sys.executable, "-c", SEARCHES, "test", str(file), "--preemptions", "9", "--json"],
            stdout=subprocess.PIPE,
            stderr=stderr,
            env=environment,
            text=True,
            preexec_fn=allow_interrupts,
        )
        wait_until_told(run, said, "searching")
        run.send_signal(sent)
        out, _ = run.communicate(timeout=ENOUGH)
    assert run.returncode == 3
    assert set(said.read_text().split()) == {"searching"}
    found = json.loads(out)
    assert (found["verdict"], found["limits"]) == ("inconclusive", ["interrupted"])
    assert found["stats"]["executions"] > 0
    assert "then it was interrupted" in found["scope"]


def test_two_hash_seeds_print_the_same(model, environment):
    name = model("lost_update")
    printed = set()
    for seed in ("1", "2"):
        run = subprocess.run(
            [sys.executable, "-m", "mazurka", "check", name, "--json"],
            env={**environment, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=False,
        )
        lines = [line for line in run.stdout.splitlines() if "second" not in line]
        printed.add("\n".join(lines))
    assert len(printed) == 1
