"""Sessions of pytest with the plugin, each in a copy of a process that has loaded both."""

from __future__ import annotations

import os
from pathlib import Path

from tests.warm import run_warm


def run(directory: Path, *arguments: str) -> tuple[int, str]:
    """A pytest session with nothing but our plugin."""
    environment = {
        **os.environ,
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "COLUMNS": "120",
        "PYTHONIOENCODING": "utf-8",
    }
    plugins = ["-p", "mazurka.runtime.testing.pytest.plugin", "-p", "no:cacheprovider"]
    words = (*plugins, "-W", "error", *arguments)
    done = run_warm("pytest", *words, folder=directory, environment=environment)
    return done.returncode, done.stdout + done.stderr
