"""`warnings.warn`: C code that reads what `warnings.catch_warnings` and others have left behind.

It looks at the filters of the interpreter and hands the warning to whoever shows or records it.
Whether it does so depends on what was shown before, in other executions, too; so all of that counts
as read, and a list of recorded warnings as changed, whatever becomes of the warning.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from types import BuiltinMethodType
from typing import Any

from mazurka.runtime.python.containers import perform_all
from mazurka.runtime.python.expressions import part_of
from mazurka.runtime.python.variables import read_attribute
from mazurka.runtime.sharing.accesses import How
from mazurka.runtime.sharing.locations import progress


def warning(function: Callable[..., Any], site: int, /, *arguments: Any, **named: Any) -> Any:
    """`warnings.warn(...)`, `warnings.warn_explicit(...)`"""
    progress()
    filters = read_attribute(warnings, "filters", site)
    read_attribute(warnings, "showwarning", site)
    shows = read_attribute(warnings, "_showwarnmsg_impl", site)
    log = shows.__self__ if type(shows) is BuiltinMethodType else None
    parts = [part_of(filters, How.READ_ALL), part_of(log, How.CHANGE)]
    # What shows a warning may be code of the program, which has accesses of its own.
    perform_all([part for part in parts if part is not None], site, bool, filters)
    return function(*arguments, **named)
