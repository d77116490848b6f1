"""Read a text in a process that may crash; `probing` says when and why."""

from __future__ import annotations

import sys

from mazurka.errors import MazurkaError
from mazurka.frontend.c.source.parsing import read_text
from mazurka.frontend.c.source.probing import CRASHED, NO_MEMORY
from mazurka.stack import deep_stack


def read_in_child(path: str, model: str, preprocessed: str) -> None:
    """Read the text that is the input, with all functions: what the other process does.

    Errors of the program are found again by the process that has asked."""
    from clang.cindex import TranslationUnitLoadError

    text = sys.stdin.buffer.read().decode()
    try:
        with deep_stack():
            unit = read_text(path, text, model, preprocessed=bool(preprocessed))
            for function in list(unit.functions.values()):
                if function.defined:
                    function.read()
    except MazurkaError:
        pass
    except MemoryError:
        sys.exit(NO_MEMORY)
    except TranslationUnitLoadError:
        sys.exit(CRASHED)
