"""Run the tests over random programs on more of them than the test suite does.

    python benchmarks/random_tests.py --shares 2
    python benchmarks/random_tests.py --shares 10 tests/soundness/test_dpor.py

The tests, their programs and what they ask of them are those of `tests/soundness`; one share is
what the suite looks at (`tests/soundness/amounts.py`).  Programs have numbers, so the first share
of any run is the suite's; Hypothesis draws those of its tests anew.  Further arguments go to
pytest.  The exit status is pytest's.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shares", type=int, default=2, help="the suite has one")
    arguments, rest = parser.parse_known_args()
    chosen = [each for each in rest if each.startswith("tests/")] or ["tests/soundness"]
    options = [each for each in rest if not each.startswith("tests/")]
    command = [sys.executable, "-m", "pytest", *options, *chosen]
    environment = {**os.environ, "MAZURKA_SHARES": str(arguments.shares)}
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
