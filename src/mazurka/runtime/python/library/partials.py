"""`functools.partial`: what a partial object calls, and with which arguments, can change.

Hardly any program changes a partial object, so that to call one is to call its function.  Where a
run shows that the program asks one for its `keywords`, which are a dictionary, or sets its state,
each call of a partial object reads these, for the whole exploration (`Learned.moving`).
"""

from __future__ import annotations

from _thread import get_ident
from functools import partial
from typing import Any, Final

from mazurka.runtime.core.scheduler import session
from mazurka.runtime.python.calls import call
from mazurka.runtime.python.deep import DeepReach, stand_before
from mazurka.runtime.python.reentry import perform_split
from mazurka.runtime.python.variables import write_fields
from mazurka.runtime.sharing.accesses import How
from mazurka.runtime.sharing.kept_by_c import older_in_c
from mazurka.runtime.sharing.locations import CHANGING_PARTIALS, learned
from mazurka.runtime.sharing.names import names

_FIELDS: Final = ("func", "args", "keywords")


def call_partial(function: Any, site: int) -> Any:
    """Choose what is called instead of a partial object."""
    if CHANGING_PARTIALS in learned.moving:
        return partial(_read_and_call, function, site)
    return partial(call(function.func, site), *function.args, **function.keywords)


def _read_and_call(function: Any, site: int, /, *arguments: Any, **named: Any) -> Any:
    """Call what a partial object holds when its arguments are there."""
    reach = DeepReach(lambda thing: (), How.READ_ALL, apart=False, writes=False)
    reach.find_variables(function, _FIELDS)
    reach.parts.append((function.keywords, dict, How.READ_ALL, None))

    def stand(_: object = None) -> Any:
        return stand_before(reach, (), site)

    if session.current.ident == get_ident():
        called, given, keywords = perform_split(stand, stand, site, _take_apart, function)
    else:
        called, given, keywords = _take_apart(function)
    return call(called, site)(*given, *arguments, **{**keywords, **named})


def _take_apart(function: Any) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    return function.func, function.args, dict(function.keywords)


def set_state(function: Any, site: int, /, *arguments: Any) -> Any:
    """`thing.__setstate__(state)`"""
    thing = function.__self__
    if session.current.ident == get_ident():
        learned.learn_moving(CHANGING_PARTIALS)
        if names.is_older(thing):
            session.current.do_aside(older_in_c.meet, thing)
    return write_fields(thing, _FIELDS, site, function, *arguments)
