"""Compile the step function of a program to native code with LLVM.

    step(src, thread, choice, dst, footprint) -> edge | fault << 32, or a negative code

`src` and `dst` are addresses of packed states (`ir.native.layout`); the function copies `src` to
`dst` and works there, so `dst` has no meaning after a negative code.  The low half of the result
is the number of the step's first edge, the high half 0 or 1 + the position in `FAULTS`.
`footprint`, used by the recording variant, points to 64-bit words: capacity, count, then one
`address * 2 + is_write` for each access; if the count is above the capacity, some did not fit.
The caller sets the count to 0.

Each thread has a function of its own: one block for each location, entered at the location's code
and left when the thread rests, as `docs/semantics.md` describes.  The text is LLVM assembly, which
is quicker to write and easier to read than objects for every instruction.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from mazurka.deadline import check_time, seconds_left
from mazurka.extras import MODELS
from mazurka.ir.interpreter import ATOMIC_LIMIT
from mazurka.ir.native.canonical import fitting_symmetry, generate_canonical_step
from mazurka.ir.native.expressions import Context, ThreadText, is_public, word_literal
from mazurka.ir.native.layout import Layout, make_layout, may_leave_range
from mazurka.ir.native.plain_step import ENDED, INVALID, STOPPED, WAITS, PlainStep
from mazurka.ir.passes.liveness import can_rest
from mazurka.ir.program import (
    FAULTS,
    FIRST_LOCATION,
    IDLE,
    STOPPING,
    WRONG,
    Assign,
    Check,
    Edge,
    Fault,
    Mode,
    Program,
)
from mazurka.ir.symmetry import Symmetry
from mazurka.ir.values.footprints import Footprints

if TYPE_CHECKING:
    from mazurka.ir.native.machine_code import NativeStep

MOST_DIGITS = 2**64 - 1
"""The most choices of an edge here; a search never tries so many one by one."""
LARGE_PROGRAM = 400
"""From this many edges on, the code is optimized less."""
PLAIN_STEP = "plain_step"
"""The name of the step function where another one makes its results canonical."""
HUGE_PROGRAM = 1_500
"""From this many edges on, it is hardly optimized: compiling must not dominate the search."""
SECONDS_A_CHARACTER = (0.4e-6, 2e-6, 2.5e-6)
"""About how long LLVM takes for each character of assembly, by speed: where there is a time limit,
what would take a large part of it is optimized less, and compiled where it can be stopped."""


class _StepText(ThreadText):
    """The steps of one thread that begin at one location."""

    def __init__(self, context: Context, number: int, start: int, loops: bool) -> None:
        super().__init__(context, number)
        self.thread = self.program.threads[number]
        self.first_edge = self.program.first_edge[number]
        self.start = start
        self.rests: set[int] = set()
        self.endings: set[str] = set()
        self.passed: list[int] = []
        """Transient locations that still need a block."""
        self.known: set[int] = set()
        self.loops = loops
        """Whether a step of the thread could stay inside atomic sections for ever."""
        self.chooses = context.chooses[number]

    def generate(self) -> str:
        check_time("compiling the model")
        self.label("start")
        self.guards(self.start, first=True)
        while self.passed:
            location = self.passed.pop()
            self.label(f"at{location}")
            self.burn_fuel(location)
            self.guards(location, first=False)
        for location in sorted(self.rests):
            self.rest(location)
        for fault in sorted(self.faults, key=FAULTS.index):
            self.fault(fault)
        return "\n".join([*self.prologue(), *self.lines, *self.epilogue(), "}"])

    def prologue(self) -> list[str]:
        lines = [
            f"define internal i64 @step{self.number}_{self.start}(ptr noalias %src, i64 %given,"
            f" ptr noalias %dst, ptr noalias %footprint) {self.context.attributes} {{",
            "entry:",
            "  %first = alloca i64",
        ]
        if self.chooses:
            lines += ["  %rest = alloca i64", "  store i64 %given, ptr %rest"]
            lines.append("  %choice = alloca i64")
        if self.loops:
            lines += ["  %fuel = alloca i64", f"  store i64 {ATOMIC_LIMIT}, ptr %fuel"]
        if self.context.record:
            lines.append("  %count = getelementptr i64, ptr %footprint, i64 1")
            lines.append("  %entries = getelementptr i64, ptr %footprint, i64 2")
        lines += self.scratch_setup()
        lines.append(
            f"  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %dst, ptr align 8 %src,"
            f" i64 {8 * self.context.layout.words}, i1 false)"
        )
        lines.append("  br label %start")
        return lines

    def scratch_setup(self) -> list[str]:
        lines: list[str] = []
        if self.scratch_array:
            low, high = min(self.scratch_array), max(self.scratch_array)
            lines.append(f"  %scratch = alloca i64, i64 {high - low + 1}")
            lines.append(f"  %scratch_first = add i64 0, {low}")
        for address in sorted(self.scratch):
            if address in self.scratch_array:
                offset = address - min(self.scratch_array)
                lines.append(f"  %s{address} = getelementptr i64, ptr %scratch, i64 {offset}")
            else:
                lines.append(f"  %s{address} = alloca i64")
            lines.append(f"  store i64 {self.slot(address).base}, ptr %s{address}")
        return lines

    def epilogue(self) -> list[str]:
        """Emit the returns for steps that do not happen."""
        lines: list[str] = []
        for name, code in (("waits", WAITS), ("stopped", STOPPED), ("ended", ENDED)):
            if name in self.endings:
                kept, self.lines = self.lines, []
                self.label(name)
                self.answer(str(code))
                lines += self.lines
                self.lines = kept
        return lines

    def end(self, name: str) -> None:
        self.endings.add(name)
        self.jump(name)

    def guards(self, location: int, *, first: bool) -> None:
        """Emit the edges of a location: test the guards in order, take the first that holds."""
        if location < FIRST_LOCATION:
            self.reserved(location)
            return
        for position in self.thread.outgoing[location]:
            edge = self.thread.edges[position]
            self.choices = 1
            if first:
                self.emit(f"store i64 {self.first_edge + position}, ptr %first")
            if edge.guard is None:
                self.take(edge)
                return
            taken, next_guard = self.fresh_label("take"), self.fresh_label("next")
            self.branch(self.truth(edge.guard), taken, next_guard)
            self.label(taken)
            self.take(edge)
            self.label(next_guard)
        self.none_enabled(location, first=first)

    def burn_fuel(self, location: int) -> None:
        """Emit a counter that ends a step which stays too long inside atomic sections."""
        if self.loops and self.thread.locations[location].mode is Mode.ATOMIC:
            fuel = self.value("load i64, ptr %fuel")
            self.require(self.value(f"icmp ne i64 {fuel}, 0"), Fault.LIVELOCK)
            left = self.value(f"sub i64 {fuel}, 1")
            self.emit(f"store i64 {left}, ptr %fuel")

    def reserved(self, location: int) -> None:
        if location == IDLE:
            self.record(str(self.counter), (self.counter,), write=False)
        self.end("stopped" if location == WRONG else "ended")

    def none_enabled(self, location: int, *, first: bool) -> None:
        edges = list(self.thread.edges_at(location))
        why = "stopped" if all(edge.kind in STOPPING for edge in edges) else "waits"
        if first and location in self.thread.ends:
            why = "ended"
        if first or self.thread.locations[location].mode is not Mode.MERGED:
            self.end(why)
        elif not can_rest(self.thread, location):
            self.emit("unreachable")
        else:
            self.rests.add(location)
            self.jump(f"rest{location}")

    def take(self, edge: Edge) -> None:
        self.choices = edge.choices
        if edge.choices > 1:
            rest = self.value("load i64, ptr %rest")
            count = word_literal(min(edge.choices, MOST_DIGITS))
            digit = self.value(f"urem i64 {rest}, {count}")
            self.emit(f"store i64 {digit}, ptr %choice")
            quotient = self.value(f"udiv i64 {rest}, {count}")
            self.emit(f"store i64 {quotient}, ptr %rest")
        for operation in edge.operations:
            if isinstance(operation, Check):
                self.require(self.truth(operation.condition), operation.fault)
            else:
                self.assign(operation)
        self.arrive(edge.target)

    def arrive(self, location: int) -> None:
        if self.thread.locations[location].mode is Mode.VISIBLE:
            self.rests.add(location)
            self.jump(f"rest{location}")
            return
        if location not in self.known:
            self.known.add(location)
            self.passed.append(location)
        self.jump(f"at{location}")

    def assign(self, operation: Assign) -> None:
        address = self.evaluate(operation.address)
        value = self.evaluate(operation.value)
        targets = self.require_cell(operation.address, address)
        if not targets:
            return  # after a fault that is certain
        if may_leave_range(self.context.footprints, operation, self.choices):
            self.check_range(address, targets, value)
        if not value.startswith("%") and not any(
            self.can_hold(target, int(value)) for target in targets
        ):
            return  # after a fault that is certain
        single = len(targets) == 1
        self.record(str(targets[0]) if single else address, targets, write=True)
        slot = self.slot(targets[0])
        if single:
            self.store_cell(targets[0], value)
        elif slot.scratch:
            self.emit(f"store i64 {value}, ptr {self.chosen_scratch(address, targets)}")
        elif slot.width:
            pointer, shift = self.locate(address, targets)
            self.insert(pointer, shift, slot, value)

    def can_hold(self, target: int, value: int) -> bool:
        """Whether a cell ever has a value, by its declaration and by the analysis of values."""
        cell = self.program.cells[target]
        return cell.low <= value <= cell.high and (cell.points is None or value in cell.points)

    def check_range(self, address: str, targets: tuple[int, ...], value: str) -> None:
        cells = [self.program.cells[target] for target in targets]
        if len({(cell.low, cell.high) for cell in cells}) == 1:
            low, high = str(cells[0].low), str(cells[0].high)
        else:
            low, high = (
                self.value(
                    f"load i64, ptr {self.value(f'getelementptr i64, ptr @{t}, i64 {address}')}"
                )
                for t in ("lows", "highs")
            )
        above = self.value(f"icmp sge i64 {value}, {low}")
        below = self.value(f"icmp sle i64 {value}, {high}")
        self.require(self.value(f"and i1 {above}, {below}"), Fault.RANGE)

    def rest(self, location: int) -> None:
        """Emit the end of a step: reset dead cells, and store the program counter."""
        self.label(f"rest{location}")
        self.settle(location)
        self.answer(self.value("load i64, ptr %first"))

    def settle(self, location: int) -> None:
        for address in self.thread.locations[location].resets:
            if not self.slot(address).scratch:
                self.store_cell(address, str(self.program.cells[address].initial))
        self.store_cell(self.counter, str(location))

    def fault(self, fault: Fault) -> None:
        code = FAULTS.index(fault) + 1
        self.label(f"fault{code}")
        self.settle(WRONG)
        edge = self.value("load i64, ptr %first")
        self.answer(self.value(f"or i64 {edge}, {code << 32}"))

    def answer(self, result: str) -> None:
        """Emit a return; if a part of the choice is left over, there is no such choice."""
        if not self.chooses:
            self.emit(f"ret i64 {result}")
            return
        rest = self.value("load i64, ptr %rest")
        none = self.value(f"icmp eq i64 {rest}, 0")
        self.emit(f"ret i64 {self.value(f'select i1 {none}, i64 {result}, i64 {INVALID}')}")


def _only_choice(context: Context, number: int) -> list[str]:
    """Emit the test that the choice is 0, for a deterministic thread."""
    if context.chooses[number]:
        return []
    return [
        "  %only = icmp eq i64 %given, 0",
        "  br i1 %only, label %find, label %none",
        "find:",
    ]


def _thread_text(context: Context, number: int) -> str:
    """Emit a thread's functions: one for each location where it can rest, and the dispatcher."""
    thread = context.layout.program.threads[number]
    slot = context.layout.slots[thread.counter]
    starts = context.layout.starts[number]
    inner = {at for at, place in enumerate(thread.locations) if place.mode is Mode.ATOMIC}
    loops = bool(thread.loop_heads(inner))
    lines = [_StepText(context, number, start, loops).generate() for start in starts]
    lines += [
        f"define internal i64 @step{number}(ptr %src, i64 %given, ptr %dst, ptr %footprint) {{",
        *_only_choice(context, number),
        f"  %at = getelementptr i64, ptr %src, i64 {slot.word}",
        "  %word = load i64, ptr %at",
        f"  %low = lshr i64 %word, {slot.shift}",
        f"  %pc = and i64 %low, {slot.mask}",
    ]
    cases = " ".join(f"i64 {slot.encode(at) if slot.width else 0}, label %l{at}" for at in starts)
    lines += [f"  switch i64 %pc, label %none [ {cases} ]", "none:", f"  ret i64 {INVALID}"]
    for at in starts:
        lines += [
            f"l{at}:",
            f"  %r{at} = tail call i64 @step{number}_{at}"
            "(ptr %src, i64 %given, ptr %dst, ptr %footprint)",
            f"  ret i64 %r{at}",
        ]
    return "\n".join([*lines, "}"])


def _table(name: str, values: list[int]) -> str:
    body = ", ".join(f"i64 {value}" for value in values)
    return f"@{name} = internal constant [{len(values)} x i64] [{body}]"


def generate_assembly(layout: Layout, *, record: bool, name: str = "step") -> str:
    """Generate the LLVM assembly of a program's step function."""
    program = layout.program
    large = len(program.edges) >= LARGE_PROGRAM
    chooses = tuple(max(bounds) > 1 for bounds in layout.choices)
    context = Context(layout, Footprints(program), record, chooses, "noinline" if large else "")
    bodies = [_thread_text(context, number) for number in range(len(program.threads))]
    tables = [
        _table("places", [slot.word << 6 | slot.shift for slot in layout.slots]),
        _table("constants", [cell.initial for cell in program.cells]),
        _table("varying", [int(at not in layout.constants) for at in range(len(layout.slots))]),
        _table("lows", [cell.low for cell in program.cells]),
        _table("highs", [cell.high for cell in program.cells]),
    ]
    if record:
        tables += [
            _table(
                f"public{number}",
                [int(is_public(program, number, address)) for address in range(len(program.cells))],
            )
            for number in range(len(program.threads))
        ]
    cases = " ".join(f"i64 {n}, label %t{n}" for n in range(len(program.threads)))
    dispatch = [
        "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)",
        f"define i64 @{name}(i64 %src, i64 %thread, i64 %choice, i64 %dst, i64 %footprint) {{",
        "  %from = inttoptr i64 %src to ptr",
        "  %to = inttoptr i64 %dst to ptr",
        "  %fp = inttoptr i64 %footprint to ptr",
        f"  switch i64 %thread, label %none [ {cases} ]",
        "none:",
        f"  ret i64 {INVALID}",
    ]
    for number in range(len(program.threads)):
        dispatch += [
            f"t{number}:",
            f"  %r{number} = tail call i64 @step{number}(ptr %from, i64 %choice, ptr %to, ptr %fp)",
            f"  ret i64 %r{number}",
        ]
    return "\n".join([*tables, *bodies, *dispatch, "}"]) + "\n"


class NativeProgram:
    """A prepared program with its layout and its native step functions, compiled on demand.

    Without a compiler the step functions are plain.

    With a symmetry, steps lead to canonical states.  `origin` is the program that the user knows,
    where `program` was derived from it.
    """

    def __init__(
        self,
        program: Program,
        symmetry: Symmetry | None = None,
        origin: Program | None = None,
    ) -> None:
        self.program = program
        self.origin = origin or program
        self.layout = make_layout(program)
        self.symmetry = fitting_symmetry(self.layout, symmetry)
        self._compiled: dict[tuple[bool, bool], NativeStep | PlainStep] = {}
        self._compiling = threading.Lock()

    @property
    def step(self) -> NativeStep | PlainStep:
        return self.code(record=False)

    @property
    def recording_step(self) -> NativeStep | PlainStep:
        return self.code(record=True)

    def code(self, *, record: bool, quick: bool = False) -> NativeStep | PlainStep:
        """Return the step function; for a short search `quick`ly compiled code will do, unless
        there is better code already."""
        with self._compiling:
            found = self._compiled.get((record, False))
            if found is None and quick:
                found = self._compiled.get((record, True))
            if found is None:
                found = self._compiled[record, quick] = self._compile(record=record, quick=quick)
            return found

    def plain_address(self, step: NativeStep | PlainStep) -> int:
        """The address of the function in the same code that leaves threads in their places."""
        if self.symmetry is None:
            return step.address
        if isinstance(step, PlainStep):
            return step.apart.address
        address: int = step.engine.get_function_address(PLAIN_STEP)
        return address

    def assembly(self, *, record: bool) -> str:
        """The LLVM assembly of the step function."""
        if self.symmetry is None:
            return generate_assembly(self.layout, record=record)
        text = generate_assembly(self.layout, record=record, name=PLAIN_STEP)
        return text + generate_canonical_step(self.layout, self.symmetry, PLAIN_STEP)

    def _compile(self, *, record: bool, quick: bool) -> NativeStep | PlainStep:
        if not MODELS.is_installed:
            return PlainStep(self.layout, self.symmetry, record=record)
        from mazurka.ir.native.machine_code import compile_assembly, compile_within_limit

        edges = len(self.program.edges)
        speed = 1 if edges >= LARGE_PROGRAM else 2
        if quick or edges >= HUGE_PROGRAM:
            speed = 0
        text = self.assembly(record=record)
        left = seconds_left()
        if left is None:
            return compile_assembly(text, speed=speed)
        if len(text) * SECONDS_A_CHARACTER[speed] > left / 4:
            speed = 0
        if len(text) * SECONDS_A_CHARACTER[speed] < left / 20:
            return compile_assembly(text, speed=speed)
        return compile_within_limit(text, speed=speed)


def native(
    program: Program, symmetry: Symmetry | None = None, origin: Program | None = None
) -> NativeProgram:
    """Return a program's native code, with or without symmetry; it is cached in the program."""
    kept: dict[str, object] = program.__dict__
    key = "_native" if symmetry is None else "_native_canonical"
    found = kept.get(key)
    if not isinstance(found, NativeProgram):
        found = kept[key] = NativeProgram(program, symmetry, origin)
    return found
