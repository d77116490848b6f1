"""What went wrong in a run, in words: exceptions, and threads that stand for ever."""

from __future__ import annotations

import concurrent.futures.thread as pool
import re
import sys
import traceback
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import AsyncGeneratorType, CoroutineType, FrameType, GeneratorType, TracebackType

from mazurka.runtime.core.assertions import explain_assertion
from mazurka.runtime.core.operations import RealOperation, purpose_at
from mazurka.runtime.core.sites import is_own_file, is_plumbing_file, shown_path, site_of
from mazurka.runtime.core.spinning import Spin
from mazurka.runtime.core.tasks import Join, Task, labels_of
from mazurka.stateless.runs import Failed

EXPLAINED = "__mazurka_explained__"
"""Where an exception keeps what it is about."""


class ControlError(Exception):
    """The program cannot be kept under control; what was explored so far says nothing."""


class UnstoppableThreadError(ControlError):
    """A thread that cannot be ended when its run is over."""

    def __init__(self, label: str) -> None:
        super().__init__(
            f"thread {label} catches every exception, BaseException included, and goes on for ever:"
            " it cannot be ended when its run is over"
        )


class UnrunTestError(ControlError):
    """A test that has returned a coroutine or a generator, whose code has not run."""


def refuse_unrun(returned: object) -> None:
    """Refuse what a test returns if the code of the test is still to run in it."""
    kind = type(returned)
    if isinstance(returned, CoroutineType):
        returned.close()  # or there is a warning that nobody has awaited it
    if issubclass(kind, GeneratorType | AsyncGeneratorType) or hasattr(kind, "__await__"):
        raise UnrunTestError(
            f"the test returns an object of type {kind.__name__}, whose code has not run;"
            " mazurka.explore takes functions that start threads"
        )


class EndlessRunError(ControlError):
    """A run that has taken too many steps."""

    def __init__(self, limit: int, last: Task, tasks: Sequence[Task | None]) -> None:
        label = last.life.label
        site = site_of(sys._getframe(2))
        where = f" at {shown_path(site.file)}:{site.line}" if site else ""
        left = [task for task in tasks if task is not None and task.life.state != "ended"]
        if last in left and all(task.daemon for task in left):
            text = (
                f"the daemon thread {label} goes on{where} after the test and all others have"
                f" ended ({limit:,} steps of the run so far): let the test tell it to stop, and"
                " join it"
            )
        else:
            text = (
                f"a run has taken more than {limit:,} steps and may never end; thread {label} ran"
                f" last{where}. Likely causes are a loop there that never ends, or that waits for"
                " other threads without sleeping: let it wait for an event or a condition, or call"
                f" time.sleep in it. If the run does end, allow more: --max-steps {limit // 5}"
            )
        super().__init__(text)


@dataclass(frozen=True)
class Skip:
    """How an execution has ended itself without failing, by `pytest.skip` for example."""

    error: BaseException
    """Without its traceback, which would keep the objects of the run alive."""
    verb: str
    reason: str
    file: str | None
    line: int | None

    @property
    def text(self) -> str:
        """`skip: not on this system`."""
        return f"{self.verb}: {self.reason}" if self.reason else self.verb


def describe_skip(error: BaseException, verbs: Mapping[type[BaseException], str]) -> Skip:
    """Describe an exception that is no failure; it lets go of the run."""
    where = _innermost(error.__traceback__)
    verb = next(verb for kind, verb in verbs.items() if isinstance(error, kind))
    error.__traceback__ = error.__context__ = error.__cause__ = None
    reason = " ".join(_ADDRESS.sub("", _text_of(error)).split())
    return Skip(
        error,
        verb,
        reason,
        file=where.filename if where else None,
        line=where.lineno if where else None,
    )


def describe_exception(error: BaseException, number: int, label: str) -> Failed:
    """Make a finding of an exception that left a thread."""
    where = _innermost(error.__traceback__)
    told = vars(error).get(EXPLAINED) or explain_assertion(error) or _text_of(error)
    text = _ADDRESS.sub("", told)
    name = type(error).__name__
    asserts = isinstance(error, AssertionError)
    return Failed(
        kind="assert" if asserts else "exception",
        message=f"{name}: {text}" if text else name,
        thread=number,
        file=where.filename if where else None,
        line=where.lineno if where else None,
        details=(f"in thread {label}", *_lines(error.__traceback__)),
    )


_ADDRESS = re.compile(r"(?<=[\w>)]) at 0x[0-9a-fA-F]{9,}(?=[ ,>])")
"""In the `repr` of objects: it says nothing, and it is no real one, since `id` is the same in every
execution."""


def explain_now(error: BaseException) -> None:
    """Look at what a failed assertion is about before other code runs, such as a tear-down."""
    found = explain_assertion(error)
    if found is not None:
        vars(error)[EXPLAINED] = found


def _text_of(error: BaseException) -> str:
    """Return what an exception says; its own code may fail."""
    try:
        return str(error)
    except Exception as another:
        return f"<its text raises {type(another).__name__}>"


def _innermost(trace: TracebackType | None) -> traceback.FrameSummary | None:
    own = _of_the_user(trace) or [
        one for one in _summaries(trace) if not is_plumbing_file(one.filename)
    ]
    return own[-1] if own else None


def _summaries(trace: TracebackType | None) -> list[traceback.FrameSummary]:
    """Do what `traceback.extract_tb` does, without reading lines or looking for changed files."""
    return [
        traceback.FrameSummary(code.co_filename, line, code.co_name, lookup_line=False)
        for code, line in ((frame.f_code, line) for frame, line in traceback.walk_tb(trace))
    ]


def _lines(trace: TracebackType | None) -> list[str]:
    """Return the stack; a future brings along that of the call that failed in another thread."""
    codes = [frame.f_code for frame, _ in traceback.walk_tb(trace)]
    own = _of_the_user(trace)
    submitted = _of_the_user(trace, codes.index(RUN)) if RUN in codes else []
    lines = [f"{frame.filename}:{frame.lineno} in {frame.name}" for frame in own]
    first = len(own) - len(submitted)
    return [*lines[:first], *(f"{line}{IN_EXECUTOR}" for line in lines[first:])] if first else lines


IN_EXECUTOR = ", called by an executor"
RUN = pool._WorkItem.run.__code__


def _of_the_user(trace: TracebackType | None, since: int = 0) -> list[traceback.FrameSummary]:
    """Return the frames that people want to see: not ours, and none that hide themselves.

    `unittest` and pytest mark the frames of their assertions, which say nothing about the test.
    """
    shown = []
    frames = list(traceback.walk_tb(trace))
    for number, ((frame, _), summary) in enumerate(zip(frames, _summaries(trace), strict=True)):
        hides = "__unittest" in frame.f_globals or frame.f_locals.get("__tracebackhide__") is True
        hides = hides or number < since or _is_entrance(frames[number + 1 : number + 2])
        if not (hides or is_plumbing_file(summary.filename)):
            shown.append(summary)
    return shown


def _is_entrance(following: Sequence[tuple[FrameType, int]]) -> bool:
    """Whether the next frame is that of a trap: then the function begins anew behind it."""
    code = following[0][0].f_code if following else None
    return code is not None and code.co_qualname == TRAP and is_own_file(code.co_filename)


TRAP = "Trap.__call__"
"""What functions lead to that are called under control for the first time (`rewrite.traps`)."""


def where_stands(frame: FrameType | None) -> tuple[str, int] | None:
    """Return the place in the user's code at which a thread stands."""
    outermost: tuple[str, int] | None = None
    while frame is not None:
        name = frame.f_code.co_filename
        if not is_own_file(name):
            outermost = (name, frame.f_lineno)
            if not is_plumbing_file(name):
                return outermost
        frame = frame.f_back
    return outermost


def describe_standing(
    tasks: Sequence[Task | None], pending: Sequence[RealOperation | None]
) -> list[Failed]:
    """Make findings of the threads that stand where nobody can go on."""
    standing = [
        (task, operation)
        for task, operation in zip(tasks, pending, strict=True)
        if task is not None and operation is not None
    ]
    if not standing:
        return []
    main = tasks[0]
    assert main is not None
    waits = pending[0] is not None
    stuck = standing if waits else [(t, o) for t, o in standing if not (t.daemon or t.excused)]
    if not stuck or main.daemon:
        return []
    return [_stuck(tasks, stuck, waits)]


def _stuck(
    tasks: Sequence[Task | None], stuck: list[tuple[Task, RealOperation]], is_deadlock: bool
) -> Failed:
    names = labels_of(tasks)
    labels = {task.path: names[task.number] for task in tasks if task is not None}
    frames = sys._current_frames()
    lines, places = [], []
    for task, operation in stuck:
        frame = frames.get(task.ident) if task.begun else None
        place = where_stands(frame)
        holder = operation.holder()
        held = f", held by thread {labels.get(holder, holder)}" if holder else ""
        at = f" at {place[0]}:{place[1]}" if place else ""
        waits = operation.waits_for(purpose_at(frame))
        lines.append(f"thread {labels[task.path]} waits {waits}{held}{at}")
        places.append(place)
    is_livelock = any(isinstance(operation, Spin) for _, operation in stuck)
    kind = "livelock" if is_livelock else ("deadlock" if is_deadlock else "leak")
    first = _find_culprit(tasks, stuck)
    place = next((one for one in (places[first], *places) if _is_users(one)), None)
    return Failed(
        kind=kind,
        message=_MESSAGES[kind] + lines[first],
        thread=stuck[first][0].number,
        file=place[0] if place else None,
        line=place[1] if place else None,
        details=tuple(lines),
    )


def _find_culprit(tasks: Sequence[Task | None], stuck: list[tuple[Task, RealOperation]]) -> int:
    """Return the position of the thread that explains best why the others wait.

    That is a thread in an endless loop; failing that one of a cycle, then one that waits for a
    thread that has ended.  A thread that waits for an event or an item, which any thread could
    provide, comes after these, and a thread that only joins another one comes last.
    """
    awaited = {task.number: find_awaited(tasks, operation) for task, operation in stuck}
    cycle = find_cycle(awaited, awaited)

    def rank(position: int) -> tuple[int, bool]:
        task, operation = stuck[position]
        joins = isinstance(operation, Join)
        if isinstance(operation, Spin):
            return 0, joins
        if task.number in cycle:
            return 1, joins
        has_ended = bool(operation.holder()) and awaited[task.number] not in awaited
        return (2 if has_ended else 3), joins

    return min(range(len(stuck)), key=rank)


def find_awaited(tasks: Iterable[Task | None], operation: RealOperation) -> int | None:
    """Return the number of the thread that an operation joins, or that holds what it waits for."""
    if operation.joined >= 0:
        return operation.joined
    holder = operation.holder()
    return next((one.number for one in tasks if one is not None and one.path == holder), None)


def find_cycle(awaited: Mapping[int, int | None], starts: Iterable[int | None]) -> list[int]:
    """Return the threads of the first cycle that is reached from `starts`: each waits for the
    next one, and the last for the first.  Return an empty list where there is none."""
    for start in starts:
        chain: dict[int, None] = {}
        thread = start
        while thread is not None and thread in awaited and thread not in chain:
            chain[thread] = None
            thread = awaited[thread]
        if thread in chain:
            members = list(chain)
            return members[members.index(thread) :]
    return []


def _is_users(place: tuple[str, int] | None) -> bool:
    return place is not None and not is_plumbing_file(place[0])


_MESSAGES = {
    "livelock": "a thread goes round a loop for ever: ",
    "deadlock": "nobody can go on: ",
    "leak": "the test has returned, and a thread that is no daemon can never end: ",
}
