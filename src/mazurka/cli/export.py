"""`mazurka export`: the program behind a model, for other tools and for the eye."""

from __future__ import annotations

import json as json_module
import sys
from typing import Annotated

from mazurka.cli import arguments as args
from mazurka.cli.failures import guarded
from mazurka.search import one_of

EPILOG = "Example: mazurka export examples/philosophers.py --format dot | dot -Tsvg > model.svg"
FORMATS = ("json", "dot")


def export(
    file: args.File,
    form: Annotated[str, args.option("--format json|dot", "What to write.")] = "json",
    output: Annotated[str | None, args.option("-o --output FILE", "Instead of stdout.")] = None,
    language: args.Language = None,
    define: args.Define = None,
    no_merge: args.NoMerge = False,
    max_threads: args.MaxThreads = 8,
    max_depth: args.MaxDepth = 8,
) -> int:
    """Write the program that Mazurka checks.

    JSON reads back: mazurka check accepts it.  Dot is for graphviz, one cluster
    a thread, identical threads once.
    """

    def action() -> int:
        from mazurka.checking import load_program
        from mazurka.ir.serialize import FORMAT
        from mazurka.report.outputs import require_writable, write
        from mazurka.search.reading import Reading

        one_of("format", form, FORMATS)
        reading = Reading(
            language=language,
            definitions=args.parse_definitions(define),
            merge=not no_merge,
            max_threads=max_threads,
            max_depth=max_depth,
        )
        if output is not None:
            require_writable(output, "--output", mark=FORMAT, reads=file)
        text = render(load_program(file, reading), form)
        if output is None:
            sys.stdout.write(text)
        else:
            write(output, text)
        return 0

    return guarded(action, as_json=False, path=file)


def render(program: object, form: str) -> str:
    from mazurka.ir.program import Program

    assert isinstance(program, Program)
    if form == "dot":
        from mazurka.ir.dot import to_dot

        return to_dot(program)
    from mazurka.ir.serialize import to_json

    return json_module.dumps(to_json(program), indent=1) + "\n"
