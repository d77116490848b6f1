"""Where the threads stand at the end of a trace, what they wait for, and who has it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import islice

from mazurka.analysis.standstill import examine_standstill
from mazurka.ir.interpreter import Access, Interpreter, Outcome, State, Step
from mazurka.ir.program import FINISHED, Edge, Kind, Program, Role, Thread
from mazurka.report.constants import name_constants
from mazurka.report.operations import IF, UNTIL, place_name
from mazurka.report.places import (
    MOST_TRIED,
    RESTING,
    Shown,
    is_hidden,
    object_name,
    shown_value,
    source_line,
    thread_name,
)
from mazurka.report.receiving import split_ways, tell_left_out
from mazurka.report.words import listed

UNNOTIFIED = "waits to be notified on "
WAITING = {
    Kind.ACQUIRE: "waits for {object}",
    Kind.WAKE: UNNOTIFIED + "{object}",
    Kind.WAIT: UNNOTIFIED + "{object}",
    Kind.DOWN: "waits for semaphore {object}",
    Kind.AWAIT: "waits for event {object} to be set",
    Kind.ARRIVE: "waits at barrier {object}",
    Kind.LEAVE: "waits for the others at barrier {object}",
    Kind.PUT: "waits for queue {object} to have room",
    Kind.GET: "waits for queue {object} to have an item",
    Kind.HAND_OVER: "waits for somebody to take what it offers on {object}",
    Kind.JOIN: "waits for {object} to end",
}
ON_CHANNELS = {
    Kind.PUT: "waits until it can offer an item on {object}, where another one is offered",
    Kind.GET: "waits for somebody to offer an item on {object}",
}
"""The same where the object is a rendezvous channel."""
OFFERING = ("offer on ", "take from ")
"""How the texts of these operations begin."""
EXCUSED = "; a stopped thread could end this"
"""What is added where a wait does not count for a deadlock."""
READER = re.compile(r"\.reader\[(\d+)\]$")


@dataclass(frozen=True)
class Standing:
    """Where a thread stands at the end, and why it does not go on."""

    thread: int
    name: str
    status: str
    """`waits`, `stopped`, `finished`, `not started`, `failed`, `ready` or `goes round`."""
    file: str
    line: int
    source: str
    reason: str
    wants: str = ""
    """What a thread waits for: a lock, another object, or a thread."""
    holders: tuple[int, ...] = ()
    """The threads that have it, or that it waits for."""
    endless: bool = False
    """Whether the text of its code leads to no end from here, as that of a server does."""

    def to_json(self) -> dict[str, object]:
        return {
            "thread": self.name,
            "status": self.status,
            "file": self.file or None,
            "line": self.line or None,
            "source": self.source,
            "reason": self.reason,
        }


def find_standings(program: Program, state: State, last: Step | None) -> tuple[Standing, ...]:
    """One entry for each thread, in order; those that only watch a property stand nowhere."""
    interpreter = Interpreter(program)
    still = examine_standstill(interpreter, state)
    excused = still.waiting - still.deadlocked if still and still.stopped else frozenset[int]()
    return tuple(
        _standing(program, interpreter, state, number, last, excused=number in excused)
        for number, thread in enumerate(program.threads)
        if not thread.observer
    )


def _standing(
    program: Program,
    interpreter: Interpreter,
    state: State,
    thread: int,
    last: Step | None,
    *,
    excused: bool,
) -> Standing:
    name = program.threads[thread].name
    location = interpreter.location(state, thread)
    status = reason = RESTING.get(location, "")
    if location in program.threads[thread].ends:
        status, reason = "finished", "ends the process"
    edge = None
    span = last.fault.span if last is not None and last.fault and last.thread == thread else None
    if not status:
        choice, step = _attempt(interpreter, state, thread)
        edge = blocking_edge(interpreter, state, step, choice)
        status, reason = _status(program, step, edge)
        span = edge.span if edge is not None else None
    if excused:
        reason += EXCUSED
    if span is None:
        return Standing(thread, name, status, "", 0, "", reason)
    source = source_line(program, span)
    wants: tuple[str, tuple[int, ...]] = ("", ())
    if status == "waits" and edge is not None:
        wants = find_wanted(program, interpreter.step(state, thread), edge)
    endless = not _may_end(program.threads[thread], location)
    return Standing(thread, name, status, span.file, span.line, source, reason, *wants, endless)


def _may_end(thread: Thread, start: int) -> bool:
    """Whether the end of a thread's code can be reached from a location, whatever guards say."""
    reached, waiting = {start}, [start]
    while waiting:
        targets = {edge.target for edge in thread.edges_at(waiting.pop())} - reached
        reached |= targets
        waiting.extend(targets)
    return FINISHED in reached


def find_idle(standings: Iterable[Standing]) -> list[str]:
    """Name the threads whose code has no end, where all others have ended; else nothing."""
    everybody = list(standings)
    left = [standing for standing in everybody if standing.status != "finished"]
    if len(left) == len(everybody) or not all(standing.endless for standing in left):
        return []
    return [standing.name for standing in left]


def _status(program: Program, step: Step, edge: Edge | None) -> tuple[str, str]:
    match step.outcome:
        case Outcome.WAITS if edge is not None:
            return "waits", waiting_reason(program, step, edge)
        case Outcome.WAITS:
            return "waits", "waits"
        case Outcome.STOPPED if edge is not None:
            return "stopped", f"stopped at line {edge.span.line} by `{edge.text}`"
        case Outcome.STOPPED:
            return "stopped", "stopped"
        case Outcome.FINISHED:
            return "finished", "finished"
        case _:
            return "ready", "could go on"


def _attempt(interpreter: Interpreter, state: State, thread: int) -> tuple[int, Step]:
    """The choice that tells most about a thread: one that moves, else one that waits.

    Of a number among 2³² some are enough: a search knows what the others do, a reader need not."""
    tried = []
    for choice, step in islice(interpreter.steps_of(state, thread), MOST_TRIED):
        tried.append((choice, step))
        if step.outcome is Outcome.MOVED:
            break
    for wanted in (Outcome.MOVED, Outcome.FAULT, Outcome.WAITS):
        for choice, step in tried:
            if step.outcome is wanted:
                return choice, step
    return tried[0]


def blocking_edge(
    interpreter: Interpreter, state: State, step: Step, choice: int = 0
) -> Edge | None:
    """The edge whose guard failed last, which may lie inside an atomic section."""
    program = interpreter.program
    if step.edges:
        return program.edges[step.edges[0]]
    tried = interpreter.last_tried_edge(state, step.thread, choice)
    return None if tried is None else program.edges[tried]


def waiting_reason(program: Program, step: Step, edge: Edge) -> str:
    """What a blocked thread waits for, told from what its failed guards have read."""
    if edge.kind is Kind.UNTIL:
        return _until(program, step, edge)
    if edge.kind is Kind.WAKE and UNTIL in edge.text:
        return _until_notified(program, step, edge)
    seen = [access for access in step.accesses if program.edges[access.edge].source == edge.source]
    for access in reversed(seen):
        role = program.cells[access.address].role
        if role is Role.OWNER and access.value:
            return _held(program, step.thread, access)
        if role is Role.COUNTER:
            return _unfinished(program, access)
    if edge.kind is Kind.ACQUIRE and any(_is_read(program, access) for access in seen):
        return _read(program, step, _object(program, step, seen, edge), seen)
    remark = ""
    if edge.kind is Kind.GET:
        ways, left_out = split_ways(program, step, edge)
        names = [f"`{_object(program, step, seen, each)}`" for each in (*ways, *left_out)]
        remark = tell_left_out(left_out, names[len(ways) :])
        if len(ways) > 1:
            return f"waits for an item from one of {listed(names[: len(ways)])}{remark}"
        if not ways:
            return f"waits, since no condition of its `select` holds{remark}"
        edge = ways[0]
    on_channel = edge.text.startswith(OFFERING)
    template = (WAITING | ON_CHANNELS if on_channel else WAITING).get(edge.kind)
    if template is None:
        return f"waits at `{edge.text}`" if edge.text else "waits"
    name = _object(program, step, seen, edge)
    return template.format(object=name if edge.kind is Kind.JOIN else f"`{name}`") + remark


def find_wanted(program: Program, step: Step, edge: Edge) -> tuple[str, tuple[int, ...]]:
    """What a blocked thread waits for, and the threads that have it."""
    seen = [access for access in step.accesses if program.edges[access.edge].source == edge.source]
    for access in reversed(seen):
        cell = program.cells[access.address]
        if cell.role is Role.OWNER and access.value:
            return cell.name, (access.value - 1,)
        if cell.role is Role.COUNTER:
            counters = [thread.counter for thread in program.threads]
            other = counters.index(access.address)
            return thread_name(program, other), (other,)
    names = [program.cells[access.address].name for access in seen if access.value]
    readers = tuple(int(found[1]) for name in names if (found := READER.search(name)))
    return _object(program, step, seen, edge), readers


def _until(program: Program, step: Step, edge: Edge) -> str:
    """The condition that does not hold, and the values that it was evaluated with."""
    condition = edge.text.removeprefix("await ")
    constants = name_constants(program, edge.span, condition)
    values = _values(program, step.thread, step.accesses, constants)
    return f"waits until `{condition}`{values}"


def _values(
    program: Program, thread: int, accesses: Iterable[Access], constants: dict[str, Shown]
) -> str:
    """What was read, in parentheses; empty if that was nothing."""
    values = {
        place_name(program, address, thread): shown_value(program, address, value)
        for address, value, write, _ in accesses
        if not (write or is_hidden(program.cells[address]))
    }
    values |= constants
    found = ", ".join(f"{place} is {value}" for place, value in values.items())
    return f" ({found})" if found else ""


def _until_notified(program: Program, step: Step, edge: Edge) -> str:
    """A `wait_for`: what its predicate says by now, and whether the thread was notified."""
    said, _, condition = edge.text.partition(UNTIL)
    told = replace(edge, text=said)
    reason = waiting_reason(program, step, told)
    holds, accesses = _ask_predicate(program, step, edge, condition)
    constants = name_constants(program, edge.span, condition)
    values = _values(program, step.thread, accesses, constants)
    if not reason.startswith(UNNOTIFIED):  # it has been notified, and needs the lock
        return f"{reason}, to see whether `{condition}`"
    if holds:
        return f"{reason}, although `{condition}` holds by now{values}"
    return f"waits until `{condition}`{values}; not notified on {reason.removeprefix(UNNOTIFIED)}"


PREDICATE_STEPS = 200
"""How many steps of a predicate are taken to see what it says."""


def _ask_predicate(
    program: Program, step: Step, edge: Edge, condition: str
) -> tuple[bool | None, list[Access]]:
    """Let a thread evaluate its predicate as if it had woken up here; None if that has no end."""
    interpreter, accesses = Interpreter(program), list[Access]()
    cells = list(step.state)
    cells[program.threads[step.thread].counter] = edge.target
    state = tuple(cells)
    for _ in range(PREDICATE_STEPS):
        taken = interpreter.step(state, step.thread)
        if taken.outcome is not Outcome.MOVED:
            break
        texts = [program.edges[number].text for number in taken.edges]
        accesses += taken.accesses
        if condition in texts or f"not ({condition})" in texts:
            return condition in texts, accesses
        state = taken.state
    return None, accesses


def _held(program: Program, thread: int, access: Access) -> str:
    lock = program.cells[access.address].name
    if access.value - 1 == thread:
        return f"waits for `{lock}`, which it holds already"
    return f"waits for `{lock}`, held by {thread_name(program, access.value - 1)}"


def _is_read(program: Program, access: Access) -> bool:
    """Whether the cell says that a thread holds a read-write lock for reading."""
    return bool(READER.search(program.cells[access.address].name) and access.value)


def _read(program: Program, step: Step, lock: str, seen: list[Access]) -> str:
    """Who reads what a thread wants to write.  The guard stops at the first reader it meets."""
    flags = [access.address for access in seen if _is_read(program, access)]
    object_ = object_name(program, flags[0])
    readers = [
        int(match[1])
        for address, cell in enumerate(program.cells)
        if (match := READER.search(cell.name))
        and object_name(program, address) == object_
        and step.state[address]
    ]
    others = listed([thread_name(program, reader) for reader in readers if reader != step.thread])
    if step.thread not in readers:
        return f"waits for `{lock}`, read by {others}"
    also = f", together with {others}" if others else ""
    return f"waits for `{lock}`, which it reads itself{also}"


def _unfinished(program: Program, access: Access) -> str:
    for other in program.threads:
        if other.counter == access.address:
            return f"waits for {other.name} to end"
    return "waits for a thread to end"


def _object(program: Program, step: Step, seen: list[Access], edge: Edge) -> str:
    """The object waited for: the edge's subject, or the first cell of an object that was read."""
    if edge.subject is not None:
        address = Interpreter(program).value(step.state, step.thread, edge.subject)
        if address is not None and 0 < address < len(program.cells):
            said = edge.text.partition(IF)[0] if edge.kind is Kind.GET else edge.text
            return object_name(program, address, said)
    for access in seen:
        if program.cells[access.address].role in (Role.SYNC, Role.OWNER):
            return object_name(program, access.address)
    return edge.text.partition(" ")[2] or edge.text or str(edge.kind)
