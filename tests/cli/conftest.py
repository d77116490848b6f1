"""Running the command in this process, and in one of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import models
import pytest
from tests.limits import ENOUGH
from tests.warm import run_warm

from mazurka.cli.failures import run_guarded
from mazurka.cli.main import app


@dataclass
class Outcome:
    status: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """Write one of the models to the current directory; returns its name."""
    monkeypatch.chdir(tmp_path)

    def write(name: str) -> str:
        Path(f"{name}.py").write_text(getattr(models, name.upper()), encoding="utf-8")
        return f"{name}.py"

    return write


@pytest.fixture
def mazurka(capsys: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    def run(*arguments: str) -> Outcome:
        status = run_guarded(app, arguments)
        out, err = capsys.readouterr()
        return Outcome(status, out, err)

    return run


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    """For a process of its own: the package of this checkout, plain output."""
    import mazurka

    home = str(Path(mazurka.__file__).parents[1])
    kept = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR")}
    path = os.pathsep.join([home, os.environ.get("PYTHONPATH", "")])
    return {**kept, "PYTHONPATH": path, "PYTHONIOENCODING": "utf-8"}


@pytest.fixture
def process(environment: dict[str, str]) -> Callable[..., subprocess.CompletedProcess[str]]:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "mazurka", *arguments],
            capture_output=True,
            encoding="utf-8",
            env=environment,
            timeout=ENOUGH,
            check=False,
        )

    return run


@pytest.fixture
def copy(environment: dict[str, str]) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run the command in a copy of a process that has loaded it, which takes a quarter as long."""

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return run_warm("mazurka", *arguments, environment=environment)

    return run
