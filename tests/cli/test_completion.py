"""Completion in the shell: what is offered, and that asking is cheap."""

from __future__ import annotations

import subprocess
import sys

import pytest
from tests.limits import ENOUGH

from mazurka.cli.completion import complete_among, complete_list


def test_names_that_begin_alike():
    assert complete_among(lambda: ("cpc", "cpc-strict", "full"))("cp") == ["cpc", "cpc-strict"]


def test_the_last_part_of_a_list():
    complete = complete_list(lambda: ("assert", "deadlock", "race"))
    assert complete("") == ["assert", "deadlock", "race"]
    assert complete("assert,") == ["assert,deadlock", "assert,race"]
    assert complete("assert,r") == ["assert,race"]


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("mazurka ch", {"check"}),
        ("mazurka check --strategy cp", {"cpc", "cpc-strict"}),
        ("mazurka check --property assert,d", {"assert,deadlock"}),
        ("mazurka replay --format s", {"svg"}),
    ],
)
def test_a_shell_is_answered_without_heavy_imports(environment, words, offered):
    script = (
        "import sys\nfrom mazurka.cli.main import main\n"
        "try:\n    main()\nfinally:\n"
        "    heavy = {'numba', 'llvmlite', 'numpy'} & set(sys.modules)\n"
        "    print(sorted(heavy), file=sys.stderr)\n"
    )
    asked = {
        "_MAZURKA_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
    }
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        encoding="utf-8",
        env={**environment, **asked},
        timeout=ENOUGH,
        check=False,
    )
    assert set(done.stdout.split()) == offered
    assert done.stderr == "[]\n"
