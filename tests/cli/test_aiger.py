"""`mazurka export --format aiger`, and `mazurka replay --circuit` for what others find in it."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.limits import ENOUGH
from tests.soundness.aiger_agreement import ABC

from mazurka.checking import load_program
from mazurka.circuit_files import CircuitRequest, build_circuit
from mazurka.search.reading import Reading
from mazurka.symbolic.aiger.exporting import list_bad
from mazurka.symbolic.aiger.reading import read_aiger
from mazurka.symbolic.reaching import ReachingInputs, WayQuestion, find_way
from mazurka.symbolic.solving.solver import SatSolver

EXAMPLES = Path(__file__).parents[2] / "examples"
EXPORT = ("export", "--format", "aiger")


def find_frames(model: str, properties: Sequence[str]) -> tuple[int, list[str]]:
    """A way to something bad in a circuit, as a checker would find it: what, and the inputs."""
    program = load_program(model, Reading())
    circuit, _ = build_circuit(program, CircuitRequest(properties=tuple(properties)))
    for number, literal in enumerate(list_bad(circuit).values()):
        with SatSolver() as solver:
            found = find_way(WayQuestion(circuit, literal, ()), solver, lambda _: None)
        if isinstance(found, ReachingInputs):
            return number, ["".join(map(str, frame)) for frame in found.frames]
    raise AssertionError("nothing is bad")


@pytest.mark.parametrize(
    ("name", "asked", "message"),
    [
        ("lost_update", "assert,deadlock", "an update was lost"),
        ("philosophers", "deadlock", "no thread can move"),
        ("lost_update", "race", "writes `counter`"),
    ],
)
def test_a_witness_is_replayed_on_the_model(
    mazurka, tmp_path: Path, name: str, asked: str, message: str
) -> None:
    model, file, witness = EXAMPLES / f"{name}.py", tmp_path / "m.aig", tmp_path / "witness"
    assert mazurka(*EXPORT, str(model), "--property", asked, "-o", str(file)).status == 0
    bad, frames = find_frames(str(model), asked.split(","))
    latches = "0" * len(read_aiger(str(file)).latches)
    witness.write_text("\n".join(["1", f"b{bad}", latches, *frames, "."]), encoding="ascii")
    answer = mazurka("replay", str(witness), "--circuit", str(file))
    assert (answer.status, message in answer.out) == (1, True)
    older = "\n".join(f"{latches} {inputs} 0 {latches}" for inputs in frames)
    witness.write_text(older, encoding="ascii")
    assert mazurka("replay", str(witness), "--circuit", str(file), "--json").json["violation"]


def test_a_circuit_without_inputs_has_one_run(mazurka, tmp_path: Path) -> None:
    """ABC writes no frames then, and its remark on the line of the latches."""
    model, file, witness = tmp_path / "m.py", tmp_path / "m.aig", tmp_path / "witness"
    steps = "".join(f"    x = {number}\n" for number in (1, 2, 3))
    source = f"from mazurka.model import *\nx: Int[0, 9] = 0\ndef f():\n    global x\n{steps}"
    for last, status in (("    assert x == 4\n", 1), ("    assert x == 3\n", 2)):
        model.write_text(f"{source}{last}threads = [f()]\n", encoding="utf-8")
        mazurka(*EXPORT, str(model), "--interleaving", "full", "-o", str(file))
        assert read_aiger(str(file)).inputs == 0
        for text in ("1100000# DONE", "1\nb0\n1100000\n.\n", "1# DONE\n"):
            witness.write_text(text, encoding="ascii")
            answer = mazurka("replay", str(witness), "--circuit", str(file))
            assert answer.status == status
            assert status == 1 or "nothing bad happens in this witness" in answer.err


def test_the_circuit_is_written_in_both_forms(mazurka, tmp_path: Path) -> None:
    model, file = str(EXAMPLES / "peterson.py"), tmp_path / "m.aig"
    told = mazurka(*EXPORT, model, "--ascii").out
    assert told.startswith("aag ")
    (tmp_path / "m.aag").write_text(told, encoding="utf-8")
    for _ in range(2):  # what it has written itself is overwritten
        assert mazurka(*EXPORT, model, "-o", str(file)).status == 0
    binary, readable = read_aiger(str(file)), read_aiger(str(tmp_path / "m.aag"))
    assert (binary.header, binary.symbols) == (readable.header, readable.symbols)
    assert "turn#5.0" in binary.symbols.values()
    assert mazurka("export", model, "-o", str(file)).status == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--property", "race,deadlock"], "races and deadlocks are properties of different"),
        (["--property", "hang"], "a circuit has no property 'hang'"),
        (["--interleaving", "any"], "interleaving"),
        (["--unrolling", "0"], "--unrolling must be 1 or more"),
        (["--format", "dot", "--ascii"], "--ascii is for --format aiger"),
    ],
)
def test_options_that_make_no_sense_are_refused(mazurka, options: list[str], message: str) -> None:
    answer = mazurka(*EXPORT, str(EXAMPLES / "peterson.py"), *options)
    assert (answer.status, message in answer.err) == (2, True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0\nb0\n.\n", "the property holds: there is no run"),
        ("1\nj0\n0\n0\n", "a justice property"),
        ("", "this witness is empty"),
        ("1\nb7\n0\n{zeros}\n.\n", "the circuit has no property b7"),
        ("1\nb0\n0\n0101\n.\n", "this witness is of another circuit: it has 4 inputs"),
        ("1\nb0\n0\n{zeros}\n.\n", "nothing bad happens in this witness"),
        ("once upon a time\n", "this is not an AIGER witness"),
        ("1\nb0\n0\n.\n", "this is not an AIGER witness"),
    ],
)
def test_witnesses_that_show_nothing(mazurka, tmp_path: Path, text: str, message: str) -> None:
    file, witness = tmp_path / "m.aig", tmp_path / "witness"
    mazurka(*EXPORT, str(EXAMPLES / "peterson.py"), "-o", str(file))
    zeros = "0" * read_aiger(str(file)).inputs
    witness.write_text(text.format(zeros=zeros), encoding="ascii")
    answer = mazurka("replay", str(witness), "--circuit", str(file))
    assert (answer.status, message in answer.err) == (2, True)


def test_the_model_may_have_changed(mazurka, tmp_path: Path) -> None:
    model, file, witness = tmp_path / "m.py", tmp_path / "m.aig", tmp_path / "witness"
    text = (EXAMPLES / "lost_update.py").read_text(encoding="utf-8")
    model.write_text(text, encoding="utf-8")
    mazurka(*EXPORT, str(model), "-o", str(file))
    witness.write_text("1\nb0\n0\n0\n.\n", encoding="ascii")
    model.write_text(text.replace("counter += 1", "counter += 0"), encoding="utf-8")
    answer = mazurka("replay", str(witness), "--circuit", str(file))
    assert (answer.status, "has changed" in answer.out) == (2, True)
    file.write_text("aag 0 0 0 0 0\n", encoding="ascii")
    assert "was not written by" in mazurka("replay", str(witness), "--circuit", str(file)).err


@pytest.mark.skipif(ABC is None, reason="ABC is not installed")
def test_abc_proves_and_refutes(mazurka, tmp_path: Path) -> None:
    assert ABC is not None
    for name, expected in (("peterson", "Property proved"), ("peterson_swapped", "asserted")):
        file, witness = tmp_path / f"{name}.aig", tmp_path / f"{name}.witness"
        mazurka(*EXPORT, str(EXAMPLES / f"{name}.py"), "-o", str(file))
        script = f"read_aiger {file}; pdr; write_cex -a {witness}"
        told = subprocess.run([ABC, "-q", script], capture_output=True, text=True, timeout=ENOUGH)
        assert expected in told.stdout
    assert mazurka("replay", str(witness), "--circuit", str(file)).status == 1


@pytest.mark.skipif(ABC is None, reason="ABC is not installed")
def test_abc_proves_what_comes_through_a_pipe(mazurka, tmp_path: Path) -> None:
    assert ABC is not None
    file = tmp_path / "m.aig"
    mazurka(*EXPORT, str(EXAMPLES / "peterson.py"), "-o", str(file))
    told = subprocess.run(
        [ABC, "-q", "!cat > piped.aig; read_aiger piped.aig; pdr"],
        input=file.read_bytes(),
        capture_output=True,
        cwd=tmp_path,
        timeout=ENOUGH,
    )
    assert b"Property proved" in told.stdout
