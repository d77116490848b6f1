"""Run the tests over random programs on more of them than the test suite does.

    python benchmarks/random_tests.py --shares 2
    python benchmarks/random_tests.py --shares 10 tests/soundness/test_dpor.py

The tests, their programs and what they ask of them are the suite's, which looks at one share
(`tests/soundness/amounts.py`).  Programs have numbers, so the first share
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
MODELS = ("tests/corpus/test_corpus.py", "tests/examples/test_examples.py")
"""With several shares, all reductions search the models of these without merging, too."""


def random_tests() -> list[str]:
    """The files of tests that look at shares of random programs."""
    files = sorted((ROOT / "tests").rglob("test_*.py"))
    found = [each for each in files if "import shares" in each.read_text(encoding="utf-8")]
    return [*(str(each.relative_to(ROOT)) for each in found), *MODELS]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shares", type=int, default=2, help="the suite has one")
    arguments, rest = parser.parse_known_args()
    chosen = [each for each in rest if each.startswith("tests/")] or random_tests()
    options = [each for each in rest if not each.startswith("tests/")]
    command = [sys.executable, "-m", "pytest", *options, *chosen]
    environment = {**os.environ, "MAZURKA_SHARES": str(arguments.shares)}
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
