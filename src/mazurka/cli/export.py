"""`mazurka export`: the program behind a model, or its circuit, for other tools and for the eye."""

from __future__ import annotations

import json as json_module
import sys
from typing import TYPE_CHECKING, Annotated, Any

from mazurka.cli import arguments as args
from mazurka.cli.failures import guarded
from mazurka.errors import OptionError
from mazurka.search import one_of
from mazurka.symbolic.options import INTERLEAVINGS

if TYPE_CHECKING:
    from mazurka.circuit_files import CircuitRequest
    from mazurka.ir.program import DeclaredFormula
    from mazurka.search.reading import Reading

EPILOG = "Example: mazurka export examples/philosophers.py --format dot | dot -Tsvg > model.svg"
FORMATS = ("json", "dot", "aiger")
FOR_CIRCUITS = "--format aiger"


def export(
    file: args.File,
    form: Annotated[str, args.option("--format json|dot|aiger", "What to write.")] = "json",
    output: Annotated[str | None, args.option("-o --output FILE", "Instead of stdout.")] = None,
    language: args.Language = None,
    define: args.Define = None,
    no_merge: args.NoMerge = False,
    max_threads: args.MaxThreads = 8,
    max_depth: args.MaxDepth = 8,
    model: args.Model = "lp64",
    heap: args.Heap = 8,
    overflow: args.Overflow = False,
    ascii_form: Annotated[
        bool, args.option("--ascii", "With aiger: the readable form (aag), not the binary one.")
    ] = False,
    interleaving: Annotated[
        str | None,
        args.option(
            f"--interleaving {'|'.join(INTERLEAVINGS)}",
            "With aiger: what one transition is, as for mazurka check; sweeps unless given.",
        ),
    ] = None,
    asked: Annotated[
        str | None,
        args.option(
            "--property LIST",
            "With aiger: what is bad, separated by commas: assert,deadlock unless given, or"
            " assert,race. Range, index and lock errors are always bad.",
        ),
    ] = None,
    unrolling: Annotated[
        int | None,
        args.option(
            "--unrolling N",
            "With aiger: how often the loops inside an atomic section are followed; 32 unless"
            " given.",
        ),
    ] = None,
    ltl: Annotated[
        str | None,
        args.option(
            "--ltl FORMULA",
            "With aiger: the runs that violate a temporal formula, as a justice property.",
        ),
    ] = None,
    fair: Annotated[
        bool,
        args.option("--fair", "With --ltl: no thread that could always move is passed over."),
    ] = False,
    limit_time: args.LimitTime = None,
    limit_memory: args.LimitMemory = None,
) -> int:
    """Write the program that Mazurka checks.

    JSON reads back: mazurka check accepts it.  Dot is for graphviz, one cluster
    a thread, identical threads once.  AIGER 1.9 is for model checkers of
    circuits: what they find is replayed by mazurka replay --circuit.
    """

    def action() -> int:
        from mazurka import checking
        from mazurka.circuit_files import FORMAT as CIRCUIT_MARK
        from mazurka.deadline import command_start, interruptible, refuse_long, time_limit
        from mazurka.ir.program import DeclaredFormula
        from mazurka.ir.serialize import FORMAT
        from mazurka.report.outputs import require_writable, write
        from mazurka.search.options import require_positive
        from mazurka.search.reading import Reading
        from mazurka.temporal import NOWHERE

        one_of("format", form, FORMATS)
        reading = Reading(
            language=language,
            definitions=args.parse_definitions(define, file),
            merge=not no_merge,
            max_threads=max_threads,
            max_depth=max_depth,
            model=model,
            heap=heap,
            overflow=overflow,
        )
        given = {"--ascii": ascii_form, "--interleaving": interleaving, "--property": asked}
        given |= {"--unrolling": unrolling is not None, "--ltl": ltl, "--fair": fair}
        refused = [name for name, value in given.items() if value and form != "aiger"]
        if refused:
            raise OptionError(f"{refused[0]} is for {FOR_CIRCUITS}")
        if fair and ltl is None:
            raise OptionError("--fair is for --ltl")
        if ltl is not None and (interleaving or asked):
            raise OptionError("--ltl goes by single steps, and has no other property")
        mark = CIRCUIT_MARK if form == "aiger" else FORMAT
        if output is not None:
            require_writable(output, "--output", mark=mark, reads=file)
        elif form == "aiger" and not ascii_form and sys.stdout.isatty():
            raise OptionError("a binary file is not for terminals: add -o FILE, or --ascii")
        seconds, most = args.seconds(limit_time), args.megabytes(limit_memory)
        require_positive("--limit-time", seconds)
        refuse_long("--limit-time", seconds)
        text: str | bytes
        with (
            time_limit(seconds, since=command_start()),
            checking.limit_memory(most),
            interruptible(),
        ):
            request = request_circuit(interleaving, asked, unrolling)
            if form != "aiger":
                text = render(checking.load_program(file, reading), form)
            elif ltl is None:
                text = render_circuit(file, reading, request, as_text=ascii_form)
            else:
                formula = DeclaredFormula(ltl, fair, NOWHERE)
                text = render_runs(file, reading, formula, request, as_text=ascii_form)
        if output is not None:
            write(output, text)
        elif isinstance(text, bytes):
            sys.stdout.buffer.write(text)
        else:
            sys.stdout.write(text)
        return 0

    return guarded(action, as_json=False, path=file)


def request_circuit(
    interleaving: str | None, asked: str | None, unrolling: int | None
) -> CircuitRequest:
    from mazurka.circuit_files import CircuitRequest
    from mazurka.symbolic.circuit import Interleaving
    from mazurka.symbolic.options import UNROLLED, require_some

    given: dict[str, Any] = {}
    if interleaving is not None:
        one_of("interleaving", interleaving, INTERLEAVINGS)
        given["interleaving"] = Interleaving(interleaving)
    if asked is not None:
        given["properties"] = args.parse_list(asked, "--property")
    if unrolling is not None:
        require_some(f"--{UNROLLED.name}", unrolling)
        given["unrolling"] = unrolling
    return CircuitRequest(**given)


def render_circuit(
    file: str, reading: Reading, request: CircuitRequest, *, as_text: bool
) -> str | bytes:
    from mazurka.checking import load_program
    from mazurka.circuit_files import export_program
    from mazurka.symbolic.aiger.writing import write_ascii, write_binary

    circuit = export_program(file, load_program(file, reading), reading, request)
    return write_ascii(circuit) if as_text else write_binary(circuit)


def render_runs(
    file: str, reading: Reading, asked: DeclaredFormula, request: CircuitRequest, *, as_text: bool
) -> str | bytes:
    """The runs that violate a formula: a justice property of single steps."""
    from mazurka.circuit_files import FORMAT
    from mazurka.symbolic.aiger.exporting import export_circuit
    from mazurka.symbolic.aiger.writing import write_ascii, write_binary
    from mazurka.symbolic.circuit import Interleaving
    from mazurka.symbolic.temporal.runs import encode_runs
    from mazurka.temporal import read_subject

    subject = read_subject(file, reading, asked)
    runs = encode_runs(
        subject.program, subject.formula, fair=asked.fair, unrolling=request.unrolling
    )
    told = {"format": FORMAT, "input": file, "ltl": asked.text, "fair": asked.fair}
    circuit = export_circuit(
        runs.circuit, Interleaving.FULL, comment=json_module.dumps(told), justice=[runs.justice]
    )
    return write_ascii(circuit) if as_text else write_binary(circuit)


def render(program: object, form: str) -> str:
    from mazurka.ir.program import Program

    assert isinstance(program, Program)
    if form == "dot":
        from mazurka.ir.dot import to_dot

        return to_dot(program)
    from mazurka.ir.serialize import to_json

    return json_module.dumps(to_json(program), indent=1) + "\n"
