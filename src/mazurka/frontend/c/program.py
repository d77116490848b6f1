"""Build the program: globals, then `main`, then the threads that are created on the way.

How many threads there are, which functions may be called through pointers, and which variables may
be read before they are written is known only once all code has been seen.  So the program is
elaborated until what it was built for is what it found.
"""

from __future__ import annotations

from dataclasses import replace

from mazurka.errors import MazurkaError, UnsupportedError
from mazurka.frontend.c import (  # noqa: F401 - handlers: together they are the language
    calls,
    expressions,
    initializers,
    statements,
    tree,
)
from mazurka.frontend.c.addresses import place_tables
from mazurka.frontend.c.calls import bind, call
from mazurka.frontend.c.conversions import convert
from mazurka.frontend.c.function_ends import end_without_value
from mazurka.frontend.c.initializers import find_ended, find_initial_values
from mazurka.frontend.c.library import (  # noqa: F401 - handlers
    atomics,
    builtins,
    clocks,
    elements,
    formats,
    heap,
    keys,
    locks,
    output,
    scanning,
    signals,
    variable_arguments,
    verifier,
)
from mazurka.frontend.c.library.main_arguments import bind_main
from mazurka.frontend.c.library.process import constructors, place_exit_flags, run_exit_functions
from mazurka.frontend.c.library.threads import end_detached, keep_result, run_destructors
from mazurka.frontend.c.lives import end_thread_variables, leave
from mazurka.frontend.c.lowering import (
    CallFrame,
    CLowering,
    CProgram,
    CThread,
    Discoveries,
    KnownFacts,
    Limits,
)
from mazurka.frontend.c.memory import allocate, end_values, find_texts
from mazurka.frontend.c.memory_orders import ASSUMED
from mazurka.frontend.c.places_of import enter
from mazurka.frontend.c.return_sites import InliningTooLarge
from mazurka.frontend.c.survey import Survey
from mazurka.frontend.c.types import (
    ArrayType,
    FunctionType,
    Layouts,
    PointerType,
    VoidType,
    bare,
    is_scalar,
)
from mazurka.frontend.c.values import NO_RESULT, ObjectPlace, Scalar
from mazurka.frontend.kit.program import STARTED, Automaton, Label, ProgramDraft
from mazurka.frontend.kit.shapes import CellDraft
from mazurka.frontend.kit.threads import finish
from mazurka.ir.expressions import ZERO, Const, Load
from mazurka.ir.program import FINISHED, Kind, Program, Role, Span

ROUNDS = 12
"""How often a program is built before what it was built for must be what it found."""


def build_program(unit: tree.TranslationUnit, limits: Limits) -> Program:
    """Build the program of a translation unit."""
    main = unit.functions.get("main")
    if main is None or not main.defined:
        raise MazurkaError("there is no function `main`", file=unit.file)
    survey = Survey()
    try:
        return _settle(unit, limits, survey, main, sharing=False)
    except InliningTooLarge:
        return _settle(unit, limits, survey, main, sharing=True)


def _settle(
    unit: tree.TranslationUnit,
    limits: Limits,
    survey: Survey,
    main: tree.CFunction,
    *,
    sharing: bool,
) -> Program:
    """Build the program until what it was built for is what it found."""
    expected = KnownFacts()
    for _ in range(ROUNDS):
        machine, automata = _build(unit, limits, expected, survey, main, sharing)
        found = _collect(machine)
        if found == expected:
            program = machine.draft.assemble(machine.plans, automata)
            functions = tuple(each.name for each in machine.functions)
            return replace(
                program,
                sources=dict(unit.sources),
                functions=functions,
                assumed=tuple(each for each in ASSUMED if each in machine.assumed),
                weak=machine.weak,
            )
        same = found.without_addresses() == expected.without_addresses()
        expected = found if same else found.without_addresses()
    raise MazurkaError(
        "the number of threads or of objects does not settle; create them in one place",
        file=unit.file,
    )


def _collect(machine: CProgram) -> KnownFacts:
    found: Discoveries = machine.found
    expected, size = machine.expected, len(machine.draft.storage.cells)
    return KnownFacts(
        threads=len(machine.plans),
        joins=found.joins or expected.joins,
        results=found.results or expected.results,
        names_main=found.names_main or expected.names_main,
        unset=frozenset(found.unset | expected.unset),
        mutex_kinds=found.mutex_kinds or expected.mutex_kinds,
        memory=tuple(machine.memory.get(address) for address in range(size)),
        objects=tuple(machine.objects),
        shapes=tuple(machine.shapes),
        voided=frozenset(found.voided | expected.voided),
        signs=frozenset(found.signs | expected.signs),
        moved=found.moved or expected.moved,
        frees=found.frees or expected.frees,
        detaches=found.detaches or expected.detaches,
        texts=tuple(find_texts(machine)),
        restarted=tuple(each.number for each in machine.plans if each.again),
        kept_by_threads=found.kept_by_threads or expected.kept_by_threads,
        compares_threads=found.compares_threads or expected.compares_threads,
        compared=frozenset(found.compared | expected.compared),
        reusable=(machine.reusable[0], machine.reusable[1]),
        heap=tuple(machine.heap),
        mortal=tuple(machine.mortal),
        functions=tuple(each.name for each in machine.functions),
        watched=tuple(machine.watched),
        sized=tuple(machine.sized),
        destructors=tuple(machine.destructors),
        exits=tuple(machine.exits),
    )


def _build(
    unit: tree.TranslationUnit,
    limits: Limits,
    expected: KnownFacts,
    survey: Survey,
    main: tree.CFunction,
    sharing: bool,
) -> tuple[CProgram, list[Automaton]]:
    draft = ProgramDraft(
        unit.file,
        unit.sources.get(unit.file, ""),
        expected.threads,
        limits.max_threads,
        limits.max_depth,
    )
    draft.reserve(joined=expected.joins)
    layouts = Layouts(expected.threads, 3 if expected.mutex_kinds else 1)
    machine = CProgram(unit, draft, layouts, limits, expected, sharing=sharing)
    machine.functions = [unit.functions[name] for name in expected.functions]
    plan = CThread(0, "main", main.span, named=expected.names_main, function=main)
    if draft.status and plan.joinable:
        draft.storage.cells[draft.status].initial = STARTED
    machine.plans.append(plan)
    _place_results(machine)
    place_exit_flags(machine)
    _place_detached(machine)
    place_tables(machine)
    machine.first = len(draft.storage.cells)
    try:
        return machine, _build_automata(machine, survey)
    except UnsupportedError as error:
        if error.file is not None:
            raise
        raise UnsupportedError.at(machine.place, error.message) from None
    except RecursionError:
        raise UnsupportedError.at(
            machine.place, "calls, and what is inside of them, are nested too deeply here"
        ) from None


def _build_automata(machine: CProgram, survey: Survey) -> list[Automaton]:
    draft, plan = machine.draft, machine.plans[0]
    static = CLowering(draft, 0, None, machine=machine, plan=plan, survey=survey)
    machine.initial_values = lambda variable: find_initial_values(static, variable)
    machine.ended = lambda variable: find_ended(machine, variable)
    _place_globals(machine, survey)
    automata = []
    for each in machine.plans:  # elaborating one may add others
        automata.append(_build_thread(machine, each, survey))
    return automata


def _place_detached(machine: CProgram) -> None:
    """A cell for whether each thread is detached."""
    if not (machine.expected.detaches and machine.expected.joins):
        return
    machine.detached = len(machine.draft.storage.cells)
    for number in range(machine.draft.threads):
        machine.draft.storage.add(CellDraft(f"thread {number} is detached", high=1, role=Role.SYNC))


def _place_results(machine: CProgram) -> None:
    """A cell for what each thread returns."""
    if not machine.expected.results:
        return
    machine.results = len(machine.draft.storage.cells)
    for number in range(machine.draft.threads):
        cell = CellDraft(
            f"result of thread {number}", initial=NO_RESULT, role=Role.POINTER, inferred=True
        )
        machine.draft.storage.add(cell)


def _place_globals(machine: CProgram, survey: Survey) -> None:
    """Give each variable with static storage its cells, and then its first values."""
    changing = survey.changing(machine.unit)
    placed = []
    for variable in list(machine.unit.variables):
        if variable.per_thread or (variable.external and variable.initial is None):
            continue
        machine.place = variable.span
        if not machine.layouts.has_cells(variable.type):
            continue
        inner = bare(variable.type)
        if isinstance(inner, ArrayType) and inner.length is None:
            variable.type = ArrayType(inner.element, 1)  # as C completes it
        address = allocate(machine, variable.name, variable.type, None, variable.span)
        machine.globals[variable] = ObjectPlace(variable.type, Const(address), True, variable.name)
        placed.append((variable, address))
    for variable, address in placed:
        if variable.initial is None:
            if is_scalar(variable.type) and variable not in changing:
                machine.constants[variable] = Scalar(bare(variable.type), ZERO)
            continue
        values = machine.initial_values(variable)
        end_values(machine, address, machine.ended(variable))
        if is_scalar(variable.type) and variable not in changing:
            machine.constants[variable] = Scalar(bare(variable.type), Const(values[0]))
        for offset, value in enumerate(values):
            cell = machine.draft.storage.cells[address + offset]
            if cell.role is not Role.OWNER:
                cell.initial = value


def _build_thread(machine: CProgram, plan: CThread, survey: Survey) -> Automaton:
    automaton, function = Automaton(), plan.function
    assert function is not None
    low = CLowering(
        machine.draft, plan.number, automaton, machine=machine, plan=plan, survey=survey
    )
    automaton.begin(function.span)
    body = function.read()
    frame = CallFrame(function, 0, low.label(function.span))
    low.frames.append(frame)
    scratch = CellDraft(
        "scratch cell", high=1, owner=plan.number, role=Role.SYNC, span=function.span
    )
    low.scratch = machine.draft.storage.add(scratch)
    if plan.again:
        low.loop_depth += 1
        low.trips.append(None)
    enter(low, function, function.span)
    _bind_arguments(low, plan, frame)
    type_ = function.type
    assert isinstance(type_, FunctionType)
    if not isinstance(type_.result, VoidType) and machine.layouts.cells(type_.result) == 1:
        frame.result = (allocate(
            machine, f"result of {function.name}", type_.result, plan.number, function.span
        ),)  # fmt: skip
    low.loop_depth += survey.facts(function).loops_back
    low.joining.append(survey.facts(function).loops_back and survey.may_join(body))
    returned = low.label(function.span)
    ending, frame.exit = frame.exit, returned
    low.thread_exit = ending
    if plan.active:
        for each in constructors(machine.unit):
            call(low, each, [], each.span, used=False)
    low.trips += [None] * survey.facts(function).loops_back
    low.execute(body)
    leave(low, function, function.span)
    end_without_value(low, function.span)
    low.put(returned, function.span)
    if low.reachable:
        if plan.active:
            run_exit_functions(low)
            _return_from_main(low, function.span)
        else:
            _keep_return(low, frame, type_, function.span)
            run_destructors(low, function.span)
            low.go(ending, function.span)
    low.put(ending, function.span)
    if low.reachable:
        end_thread_variables(low, function.span)
        end_detached(low, function.span)
        finish(low, plan, function.span)
    return automaton


def _return_from_main(low: CLowering, span: Span) -> None:
    """End the process.  Threads that are still running end with it."""
    if low.program.threads == 1:
        low.go(Label(FINISHED), span)
    else:
        low.stop(Kind.END, span, "main returns")


def _keep_return(low: CLowering, frame: CallFrame, type_: FunctionType, span: Span) -> None:
    if frame.result and low.machine.results:
        value = Scalar(bare(type_.result), Load(Const(frame.result[0])))
        keep_result(low, value, span)


def _bind_arguments(low: CLowering, plan: CThread, frame: CallFrame) -> None:
    function = frame.function
    if plan.active:
        bind_main(low, function)
        return
    if len(function.parameters) > 1:
        raise UnsupportedError.at(
            function.span, f"`{function.name}` runs as a thread and needs one parameter"
        )
    for parameter in function.parameters:
        given = plan.argument if plan.argument is not None else Load(Const(plan.argument_cell))
        value = Scalar(PointerType(VoidType(), 64), given)
        node = tree.RefusedExpression(parameter.span, parameter.type, parameter.name, "")
        bind(low, parameter, convert(low, value, parameter.type, node), function.span)
