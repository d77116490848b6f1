"""Contexts for decimal numbers: C code copies the default one, and keeps one for each thread.

Making a context, and asking for that of a thread for the first time, reads
`decimal.DefaultContext`.  The context of a thread belongs to it alone, unless the thread takes one
into use that others have, too: then each calculation reads it and sets its flags, which nobody
sees, and nothing is proved.
"""

from __future__ import annotations

import decimal
from _thread import get_ident
from collections.abc import Callable
from typing import Any

from mazurka.runtime.core.moment import now
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.python.calls import performs
from mazurka.runtime.python.catalogue import CallEffect
from mazurka.runtime.python.containers import Part, perform
from mazurka.runtime.sharing.accesses import How
from mazurka.runtime.sharing.monitoring import unobserved
from mazurka.runtime.sharing.names import known


@performs(CallEffect.USES_DECIMALS)
def use_decimals(function: Callable[..., Any], site: int, /, *arguments: Any, **named: Any) -> Any:
    """`decimal.Context()`, `decimal.getcontext()`, `decimal.setcontext(context)`"""
    if session.current.ident != get_ident():
        return function(*arguments, **named)
    if function is decimal.setcontext:
        _note_shared(*arguments, *named.values())
        return function(*arguments, **named)
    part: Part = (decimal.DefaultContext, None, How.READ_ALL, None)
    return perform(part, site, function, *arguments, **named)


def _note_shared(context: Any = None, *_: Any) -> None:
    """Name a context that a thread takes into use although others may have it."""
    seen = known(id(context))
    if not now.alone and (seen is None or seen.maker != now.thread or seen.met):
        unobserved.note_hidden("decimal.setcontext")
