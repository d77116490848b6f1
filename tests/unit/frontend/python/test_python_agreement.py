"""Models mean what Python means: random code is run by Python and by the interpreter."""

from __future__ import annotations

from typing import Any

import pytest
from tests.soundness.amounts import shares
from tests.unit.frontend.python.model_exploration import PRELUDE, explore
from tests.unit.frontend.python.random_code import CodeWriter

from mazurka.frontend.python.elaboration import elaborate


class _Type:
    def __getitem__(self, ends: object) -> None:
        return None


def run_by_python(code: str) -> dict[str, int]:
    """The values of the shared numbers after `run()`, executed for real."""
    scope: dict[str, Any] = {"Int": _Type(), "Array": lambda _, length: [0] * length}
    body = code.replace("threads = [run()]", "run()")
    exec(compile(body, "random code", "exec"), scope)
    values = {name: scope[name] for name in "abcgh" if name in scope}
    return values | {f"arr[{place}]": value for place, value in enumerate(scope["arr"])}


@pytest.mark.parametrize("seed", range(shares(30)))
@pytest.mark.parametrize("merge", [True, False])
def test_sequential_code_gives_the_values_that_python_gives(seed: int, merge: bool) -> None:
    code = CodeWriter(seed).module()
    findings = explore(code, merge=merge)
    assert findings.fine, (findings.faults, code)
    expected = run_by_python(code)
    (final,) = findings.finals
    for name, value in final:  # numbers that nothing assigns are constants and have no cell
        assert expected.get(name, value) == value, (name, code)


@pytest.mark.parametrize("seed", range(shares(30)))
def test_statements_of_the_module_leave_the_values_that_python_leaves(seed: int) -> None:
    code = CodeWriter(seed).module_statements()
    program = elaborate(PRELUDE + code, "model.py")
    assert [thread.name for thread in program.threads] == ["run"]
    found = {cell.name: cell.initial for cell in program.cells} | program.constants
    for name, value in run_by_python(code).items():
        assert found[name] == value, (name, code)
