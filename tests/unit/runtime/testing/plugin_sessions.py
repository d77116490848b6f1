"""Sessions of pytest with the plugin, each in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.limits import ENOUGH


def run(directory: Path, *arguments: str) -> tuple[int, str]:
    """A pytest session with nothing but our plugin."""
    environment = {
        **os.environ,
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "COLUMNS": "120",
        "PYTHONIOENCODING": "utf-8",
    }
    plugins = ["-p", "mazurka.runtime.testing.pytest.plugin", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *plugins, "-W", "error", *arguments],
        cwd=directory,
        env=environment,
        capture_output=True,
        timeout=ENOUGH,
        check=False,
    )
    return done.returncode, done.stdout.decode() + done.stderr.decode()
