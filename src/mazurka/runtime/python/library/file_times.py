"""Times of files, as the virtual clock would have them.

A file that a run writes gets the time of the real clock, which is later than any that the virtual
one shows: to the program such a file would come from the future, and from a later one in each run.
So a time after the beginning of the exploration is shown as the virtual moment of the last write
that the run has made; of a file that it has not written, as the beginning.  Times in the real
future, which somebody must have set, stay.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import Any, Final

from mazurka.runtime.core.scheduler import session
from mazurka.runtime.primitives import clock
from mazurka.runtime.python.places.files import knowledge
from mazurka.runtime.python.places.operations import PlacePart
from mazurka.runtime.sharing.accesses import WRITING

_SECOND: Final = 10**9
_NAMES: Final = ("st_atime", "st_mtime", "st_ctime")
_VISIBLE: Final = os.stat_result.n_sequence_fields
_FURTHER: Final = sorted(
    {name for name in dir(os.stat_result) if name.startswith("st_")}
    - set(os.stat_result.__match_args__)
)
"""Fields that are no elements of the sequence."""
_real_time_ns: Final = time.time_ns


def note_writes(places: Sequence[PlacePart]) -> None:
    """Note when the running thread has changed some places, on the virtual clock."""
    if clock.began is not None:
        for place, how in places:
            if how in WRITING:
                knowledge.moments[place] = session.current.running.time


def show_times(result: Any, places: Sequence[PlacePart]) -> Any:
    """Give what `os.stat` has told about some places, with the times that the program may see."""
    if clock.began is None or type(result) is not os.stat_result:
        return result
    began = int(clock.began * _SECOND)
    present = session.current.do_aside(_real_time_ns)
    moments = [knowledge.moments[place] for place, _ in places if place in knowledge.moments]
    moment = began + int(max(moments, default=0.0) * _SECOND)
    named = {name: getattr(result, name) for name in _FURTHER}
    for name in _NAMES:
        if began < named[f"{name}_ns"] <= present:
            named[f"{name}_ns"], named[name] = moment, moment / _SECOND
    seconds = (int(named[f"{name}_ns"] // _SECOND) for name in _NAMES)
    return os.stat_result((*result[: _VISIBLE - len(_NAMES)], *seconds), named)
