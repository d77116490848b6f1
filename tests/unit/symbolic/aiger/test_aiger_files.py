"""AIGER files are written and read: both forms, all sections, and what is wrong in a file."""

from __future__ import annotations

from random import Random

import pytest

from mazurka.symbolic.aiger.model import AigerCircuit, AigerLatch
from mazurka.symbolic.aiger.reading import AigerError, parse_aiger
from mazurka.symbolic.aiger.writing import write_ascii, write_binary

AND_GATE = b"aig 3 2 0 1 1\n6\n\x02\x02"
"""The conjunction of two inputs: 6 = 4 & 2, so the differences are 6 - 4 and 4 - 2."""
EVERYTHING = """aag 7 2 2 1 2 1 1 1 1
2
4
6 13 1
8 6 8
14
12
3
2
12
15
9
14 12 6
12 2 5
i0 a name with spaces
l1 any
b0 assert
c
a comment
of two lines
"""
"""Two latches, one of which begins with anything; conjunction 14 stands before its operand 12."""


def random_circuit(rng: Random) -> AigerCircuit:
    inputs, latches = rng.randrange(4), rng.randrange(4)
    conjunctions: list[tuple[int, int]] = []
    for place in range(rng.randrange(200)):
        most = 2 * (1 + inputs + latches + place)
        larger, smaller = sorted((rng.randrange(most), rng.randrange(most)), reverse=True)
        conjunctions.append((larger, smaller))
    most = 2 * (1 + inputs + latches + len(conjunctions))

    def some(count: int) -> tuple[int, ...]:
        return tuple(rng.randrange(most) for _ in range(count))

    return AigerCircuit(
        inputs=inputs,
        latches=tuple(AigerLatch(each, rng.choice([0, 1, None])) for each in some(latches)),
        conjunctions=tuple(conjunctions),
        outputs=some(rng.randrange(3)),
        bad=some(rng.randrange(3)),
        constraints=some(rng.randrange(3)),
        justice=tuple(some(rng.randrange(3)) for _ in range(rng.randrange(3))),
        fairness=some(rng.randrange(3)),
        symbols={f"l{place}": f"latch {place}" for place in range(latches)},
        comment=rng.choice(["", "c\nof several lines\n"]),
    )


def test_what_is_written_is_read_back() -> None:
    rng = Random(1)
    for _ in range(40):
        circuit = random_circuit(rng)
        assert parse_aiger(write_binary(circuit)) == circuit
        assert parse_aiger(write_ascii(circuit).encode()) == circuit


def test_the_binary_form_is_that_of_the_report() -> None:
    gate = parse_aiger(AND_GATE)
    assert (gate.inputs, gate.conjunctions, gate.outputs) == (2, ((4, 2),), (6,))
    assert write_binary(gate) == AND_GATE


def test_all_sections_are_read_and_variables_are_numbered_anew() -> None:
    circuit = parse_aiger(EVERYTHING.encode())
    # 12 becomes variable 5 and 14 variable 6: an operand comes before what it is an operand of.
    assert circuit.conjunctions == ((5, 2), (10, 6))
    assert circuit.latches == (AigerLatch(11, 1), AigerLatch(6, None))
    assert (circuit.outputs, circuit.bad, circuit.constraints) == ((12,), (10,), (3,))
    assert (circuit.justice, circuit.fairness) == (((10, 13),), (9,))
    assert circuit.symbols == {"i0": "a name with spaces", "l1": "any", "b0": "assert"}
    assert circuit.comment == "a comment\nof two lines\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hello\n", "begins with neither"),
        ("aag 1 1\n", "does not have the numbers"),
        ("aag 1 1 x 0 0\n", "'x' where a number is expected"),
        ("aag 1 2 0 0 0\n2\n4\n", "promises fewer variables"),
        ("aag 1 1 0 1 0\n2\n9\n", "line 3: there is no literal 9"),
        ("aag 2 1 0 1 0\n2\n4\n", "literal 4 is used, but nothing defines it"),
        ("aag 2 1 0 0 1\n2\n4 4 2\n", "variable 2 depends on itself"),
        ("aag 2 2 0 0 0\n2\n2\n", "a variable is defined twice"),
        ("aag 1 0 1 0 0\n2 0 3\n", "a latch begins with 0, 1 or itself"),
        ("aag 1 1 0 0 0\n2\ni7 name\n", "names nothing"),
        ("aag 1 1 0 0 0\n", "the file ends in line 2"),
        ("aig 3 2 0 1 1\n6\n\x02", "ends inside of its conjunctions"),
        ("aig 3 2 0 1 1\n6\n\x00\x02", "operands that do not come before it"),
        ("aig 9 2 0 1 1\n6\n\x02\x02", "other variables than there are"),
    ],
)
def test_what_is_wrong_in_a_file_is_said(text: str, message: str) -> None:
    with pytest.raises(AigerError, match=message):
        parse_aiger(text.encode())
