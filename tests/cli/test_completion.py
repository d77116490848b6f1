"""Completion in the shell: what is offered, and that asking is cheap."""

from __future__ import annotations

import subprocess
import sys

import pytest
from tests.limits import ENOUGH

from mazurka.cli.completion import complete_among, complete_list
from mazurka.cli.main import app
from mazurka.cli.shells import LINES, find_shell, install_completion, write_script
from mazurka.errors import OptionError


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
        ("mazurka ch", {"plain,check"}),
        ("mazurka check --strategy cp", {"plain,cpc", "plain,cpc-strict"}),
        ("mazurka check --property assert,d", {"plain,assert,deadlock"}),
        ("mazurka replay --format s", {"plain,svg"}),
        ("mazurka check mod", {"file,mod"}),
        ("mazurka test test_b", {"file,test_b"}),
        ("mazurka check --trace bu", {"file,bu"}),
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
        "_MAZURKA_COMPLETE": "bash_complete",
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


@pytest.mark.parametrize("shell", LINES)
def test_completion_is_installed_once(monkeypatch, tmp_path, shell):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SHELL", f"/bin/{shell}")
    name, line = LINES[shell]
    file = tmp_path / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("# no line end", encoding="utf-8")
    for _ in range(2):
        assert str(file) in install_completion()
    assert file.read_text("utf-8") == f"# no line end\n{line}\n"
    assert f"{shell}_complete" in write_script(app, find_shell())


def test_an_unknown_shell_is_refused(monkeypatch):
    monkeypatch.setenv("SHELL", "/bin/sh")
    with pytest.raises(OptionError, match=r"bash, zsh, fish; \$SHELL"):
        install_completion()
