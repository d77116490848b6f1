"""The locale of the process, which C code keeps: one location.

`locale.setlocale` with a locale writes it; without one, as `locale.getlocale` calls it, it reads
it, like `locale.localeconv`.  C code that formats numbers or dates reads it, too, without showing
that; so a program that sets the locale has something that is not observed.
"""

from __future__ import annotations

import locale
from collections.abc import Callable
from typing import Any

from mazurka.runtime.core.moment import now
from mazurka.runtime.python.calls import performs
from mazurka.runtime.python.catalogue import CallEffect
from mazurka.runtime.python.containers import Part, perform
from mazurka.runtime.sharing.accesses import How
from mazurka.runtime.sharing.locations import progress
from mazurka.runtime.sharing.monitoring import unobserved


@performs(CallEffect.USES_LOCALE)
def use_locale(function: Callable[..., Any], site: int, /, *arguments: Any, **named: Any) -> Any:
    """Read or set the locale of the process."""
    progress()
    sets = any(value is not None for value in arguments[1:])
    if sets and not now.alone:
        unobserved.note("locale.setlocale")
    part: Part = (locale, None, How.CHANGE if sets else How.READ_ALL, None)
    return perform(part, site, function, *arguments, **named)
