"""Run commands under many values of each limit of the system, and look at their exit statuses.

    python benchmarks/system_limits.py [--only NAME...] [--limits v n u f t d] [--rounds N]

Each command has one right status.  Under a limit it ends with that status, or with 3 and a message
that names a limit.  Every other status, every traceback and every `internal error` is printed, and
the exit status is 1 then.  `u` counts the processes and threads of a user, and does not limit root;
it is skipped there.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

MEGABYTE = 1 << 20
PER_OPTION = {
    "v": (resource.RLIMIT_AS, MEGABYTE),
    "d": (resource.RLIMIT_DATA, MEGABYTE),
    "n": (resource.RLIMIT_NOFILE, 1),
    "u": (resource.RLIMIT_NPROC, 1),
    "f": (resource.RLIMIT_FSIZE, 1024),
    "t": (resource.RLIMIT_CPU, 1),
}
"""The limits: the resource, and what one of the values below counts."""
VALUES = {
    "v": [*range(60, 200, 20), *range(200, 1000, 50), *range(1000, 4001, 500)],
    "d": [*range(60, 200, 20), *range(200, 1000, 100), *range(1000, 4001, 1000)],
    "n": [*range(8, 33), 40, 48, 56, 64],
    "u": [1, 2, 3, 5, 10, 50],
    "f": [0, 1, 4, 16, 64, 256, 1024],
    "t": [1, 2, 3],
}

HOLDS = """
from mazurka.model import Mutex

x = 0
m = Mutex()

def work():
    global x
    with m:
        x += 1

threads = [work(), work()]
"""
VIOLATED = """
x = 0

def work():
    global x
    seen = x
    x = seen + 1
    assert x != 1 or seen == 0
    assert x == 2, "lost"

threads = [work(), work()]
"""
C_PROGRAM = """
#include <pthread.h>
#include <assert.h>
int x;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
void *work(void *p) { pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); return 0; }
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, 0); pthread_create(&b, 0, work, 0);
    pthread_join(a, 0); pthread_join(b, 0);
    assert(x == 2);
    return 0;
}
"""
THREADS = """
import threading

def explore(locked):
    value, lock = [0], threading.Lock()
    def work():
        with lock:
            if not locked:
                lock.release()
            seen = value[0]
            value[0] = seen + 1
            if not locked:
                lock.acquire()
    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert value[0] == 2

def test_holds():
    explore(True)
"""
COMMANDS: dict[str, tuple[int, list[str]]] = {
    "full": (0, ["check", "holds.py", "--strategy", "full"]),
    "auto": (1, ["check", "violated.py", "--json"]),
    "disk": (0, ["check", "holds.py", "--strategy", "full", "--store", "disk"]),
    "stubborn": (0, ["check", "holds.py", "--strategy", "stubborn", "--workers", "2"]),
    "dpor": (0, ["check", "holds.py", "--engine", "stateless"]),
    "bmc": (1, ["check", "violated.py", "--strategy", "bmc"]),
    "pdr": (0, ["check", "holds.py", "--strategy", "pdr"]),
    "bdd": (0, ["check", "holds.py", "--strategy", "bdd"]),
    "portfolio": (0, ["check", "holds.py", "--strategy", "portfolio"]),
    "c": (0, ["check", "program.c"]),
    "ltl": (0, ["check", "holds.py", "--ltl", "G x <= 2"]),
    "compare": (0, ["compare", "holds.py"]),
    "test": (0, ["test", "test_threads.py"]),
    "workers": (0, ["test", "test_threads.py", "--workers", "2"]),
    "trace": (1, ["check", "violated.py", "--trace", "saved.json"]),
    "export": (0, ["export", "holds.py", "-o", "exported.json"]),
    "aiger": (0, ["export", "holds.py", "--format", "aiger", "-o", "circuit.aig"]),
    "help": (0, ["check", "--help"]),
    "version": (0, ["--version"]),
}


def write_programs(folder: Path) -> None:
    texts = {
        "holds.py": HOLDS,
        "violated.py": VIOLATED,
        "program.c": C_PROGRAM,
        "test_threads.py": THREADS,
    }
    for name, text in texts.items():
        (folder / name).write_text(text)


def run(words: list[str], folder: Path, option: str | None, value: int) -> tuple[int, str]:
    def limit() -> None:
        if option is not None:
            kind, unit = PER_OPTION[option]
            resource.setrlimit(kind, (value * unit, value * unit))

    for name in ("saved.json", "exported.json", "circuit.aig"):
        (folder / name).unlink(missing_ok=True)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "mazurka", *words],
            cwd=folder,
            preexec_fn=limit,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=600,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return 999, "it did not end"
    return done.returncode, done.stdout + done.stderr


def find_faults(names: list[str], options: list[str]) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as kept:
        folder = Path(kept)
        write_programs(folder)
        for name in names:
            right, words = COMMANDS[name]
            status, text = run(words, folder, None, 0)
            if status != right:
                yield f"{name}: status {status} without a limit: {text}"
                continue
            for option in options:
                statuses = []
                for value in VALUES[option]:
                    status, text = run(words, folder, option, value)
                    statuses.append(f"{value}:{status}")
                    wrong = status not in (right, 3) or "Traceback" in text
                    unnamed = status == 3 and "limit" not in text and "disk" not in text
                    if wrong or unnamed or "internal error" in text:
                        yield f"{name} with -{option} {value}: status {status}: {text.strip()}"
                print(f"{name} -{option}: {' '.join(statuses)}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", nargs="*", default=list(COMMANDS))
    parser.add_argument("--limits", nargs="*", default=[*PER_OPTION])
    given = parser.parse_args()
    options = [each for each in given.limits if each != "u" or os.geteuid() != 0]
    faults = 0
    for fault in find_faults(given.only, options):
        faults += 1
        print(f"FAULT {fault}", flush=True)
    print(f"{faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
