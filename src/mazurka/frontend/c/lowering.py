"""The state of an elaboration, and the registries of what it understands.

A `CProgram` is a program on its way: its memory, its threads, and what earlier rounds have found
out.  A `CLowering` is one thread's code on its way to an automaton.  Handlers for each kind of node
are in `expressions.py`, `places_of.py` and `statements.py`; functions of the library in `library`.
What has no handler is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TypeVar

from mazurka.errors import UnsupportedError
from mazurka.frontend.c import tree
from mazurka.frontend.c.survey import Survey
from mazurka.frontend.c.types import (
    CType,
    ElementRow,
    IntegerType,
    Layouts,
    PointerType,
    SyncType,
    bare,
)
from mazurka.frontend.c.values import (
    AddressTable,
    MortalRow,
    ObjectPlace,
    Scalar,
    SizedRow,
    Whole,
    find_root,
)
from mazurka.frontend.kit.arithmetic import binary
from mazurka.frontend.kit.builder import ThreadBuilder
from mazurka.frontend.kit.program import Label, ProgramDraft, ThreadPlan
from mazurka.frontend.kit.shapes import MOST_CELLS, CellDraft, Reference
from mazurka.ir.expressions import ZERO, Const, Element, Expr, Load
from mazurka.ir.program import Assign, Kind, Location, Mode, Role, Span
from mazurka.search.reading import UNDECIDED


@dataclass(frozen=True, slots=True)
class KnownFacts:
    """What elaborating the program has found out; the next round begins with it."""

    threads: int = 1
    joins: bool = False
    results: bool = False
    """Somebody looks at what a thread returns."""
    names_main: bool = False
    """The main thread asks who it is, so that another one may wait for its end."""
    unset: frozenset[str] = frozenset()
    """Variables that may be read before they are written."""
    mutex_kinds: bool = False
    """Some mutex may be recursive or check for errors."""
    memory: tuple[object, ...] = ()
    """What each cell holds that a pointer can lead to; None for other cells."""
    objects: tuple[tuple[int, int], ...] = ()
    """The objects: first cell, and the one behind the last."""
    shapes: tuple[CType, ...] = ()
    """The types of these objects."""
    voided: frozenset[tuple[object, ...]] = frozenset()
    """What pointers have been converted to `void *` or to another type lead to."""
    signs: frozenset[tuple[str, int, bool]] = frozenset()
    """Integers, by width and sign, that pointers lead to which are converted, "from" and "to"."""
    moved: bool = False
    """Some pointer is moved inside of its array."""
    frees: bool = False
    heap: tuple[MortalRow, ...] = ()
    """Objects of the heap, those of one place in a row."""
    mortal: tuple[MortalRow, ...] = ()
    """Variables that pointers may outlive."""
    functions: tuple[str, ...] = ()
    """Functions whose address is taken."""
    texts: tuple[tuple[int, int], ...] = ()
    """String literals: the first cell and the last."""
    detaches: bool = False
    """Some thread may be detached."""
    restarted: tuple[int, ...] = ()
    """Threads that may be started again once they have been joined."""
    kept_by_threads: bool = False
    """The address of some thread's own variable may be kept; then no thread is started again."""
    compares_threads: bool = False
    """Numbers of threads are compared, or addresses on stacks; no thread is started again then."""
    compared: frozenset[tuple[object, ...]] = frozenset()
    """What pointers that are compared lead to; nothing means anything."""
    reusable: tuple[int, int] = (0, 0)
    """How many objects may get an address that was that of another one: on the heap, on stacks."""
    destructors: tuple[int, ...] = ()
    """For each key the number of its destructor, 0 for none."""
    exits: tuple[int, ...] = ()
    """The functions that `atexit` is given, in the order of the text."""
    sized: tuple[SizedRow, ...] = ()
    """Objects whose length is found at run time."""
    watched: tuple[tuple[int, int, int], ...] = ()
    """Objects without first values: first cell, the one behind the last, and the first of the cells
    that say which ones have been written."""

    def has_two_signs(self, bits: int) -> bool:
        """Whether memory of signed integers may be accessed as unsigned ones, or the reverse."""
        return any(
            ("from", bits, sign) in self.signs and ("to", bits, not sign) in self.signs
            for sign in (False, True)
        )

    def without_addresses(self) -> KnownFacts:
        """What does not depend on where objects lie; addresses change until the rest is settled."""
        return replace(
            self,
            memory=(),
            objects=(),
            shapes=(),
            heap=(),
            mortal=(),
            watched=(),
            sized=(),
            texts=(),
        )


@dataclass(slots=True)
class Discoveries:
    """What this round finds out."""

    joins: bool = False
    results: bool = False
    names_main: bool = False
    unset: set[str] = field(default_factory=set)
    mutex_kinds: bool = False
    voided: set[tuple[object, ...]] = field(default_factory=set)
    signs: set[tuple[str, int, bool]] = field(default_factory=set)
    moved: bool = False
    frees: bool = False
    detaches: bool = False
    kept_by_threads: bool = False
    compares_threads: bool = False
    compared: set[tuple[object, ...]] = field(default_factory=set)


@dataclass(eq=False, slots=True)
class CThread(ThreadPlan):
    """A thread that runs a function."""

    function: tree.CFunction | None = None
    argument: Expr | None = None
    """What it is given, where that is known; otherwise it is in a cell."""
    argument_cell: int = 0
    again: bool = False
    """Whether it may be started again once it has been joined."""
    lineage: tuple[tree.CFunction, ...] = ()
    """The functions of the threads that lead to it, for threads that create threads."""


@dataclass(slots=True)
class Limits:
    """The options that a program is read with."""

    max_threads: int = 8
    max_depth: int = 8
    heap: int = 8
    overflow: bool = False
    unwritten: str = UNDECIDED


@dataclass(eq=False, slots=True)
class CProgram:
    """A program on its way."""

    unit: tree.TranslationUnit
    draft: ProgramDraft
    layouts: Layouts
    limits: Limits
    expected: KnownFacts
    place: Span | None = None
    """The statement that is being executed."""
    found: Discoveries = field(default_factory=Discoveries)
    globals: dict[tree.Variable, ObjectPlace] = field(default_factory=dict)
    per_thread: dict[tuple[tree.Variable, int], ObjectPlace] = field(default_factory=dict)
    literals: dict[bytes, int] = field(default_factory=dict)
    functions: list[tree.CFunction] = field(default_factory=list)
    """Functions whose address is taken; the position is the function's number."""
    constants: dict[tree.Variable, Scalar] = field(default_factory=dict)
    """Variables that keep their first value."""
    destructors: list[int] = field(default_factory=list)
    named: dict[str, int] = field(default_factory=dict)
    """How many objects of the heap have each name."""
    exits: list[int] = field(default_factory=list)
    """The functions that `atexit` is given."""
    exit_flags: int = 0
    """The first of the cells that say which of these are to run."""
    keys_made: dict[tree.Expression, int] = field(default_factory=dict)
    """The number of the key that each call of `pthread_key_create` makes, by the callee's node."""
    plans: list[CThread] = field(default_factory=list)
    memory: dict[int, object] = field(default_factory=dict)
    """What each cell holds that a pointer can lead to."""
    objects: list[tuple[int, int]] = field(default_factory=list)
    shapes: list[CType] = field(default_factory=list)
    heap: list[MortalRow] = field(default_factory=list)
    mortal: list[MortalRow] = field(default_factory=list)
    thread_lives: dict[int, list[int]] = field(default_factory=dict)
    """By thread the cells that say that its `_Thread_local` variables are alive."""
    sized: list[SizedRow] = field(default_factory=list)
    watched: list[tuple[int, int, int]] = field(default_factory=list)
    sharing: bool = False
    """Whether calls of a function share its body; see `return_sites.py`."""
    runs: dict[tuple[object, ...], list[ElementRow]] = field(default_factory=dict)
    """Rows of elements by what they hold, found when they are asked for."""
    others: dict[tuple[object, ...], list[tuple[int, int]]] = field(default_factory=dict)
    """Cells that hold no such elements, found when they are asked for (`find_others`)."""
    results: int = 0
    """The address of the first thread's result; 0 where nobody asks."""
    detached: int = 0
    """The first of the cells that say which threads are detached, or have been joined; 0 where none
    is ever detached."""
    reusable: list[int] = field(default_factory=lambda: [0, 0])
    addresses: AddressTable | None = None
    """Which objects have the same address, where that matters; see `addresses.py`."""
    thread_ids: AddressTable | None = None
    """The same for threads and their numbers."""
    keys: int = 0
    assumed: set[str] = field(default_factory=set)
    """What of `memory_orders.ASSUMED` the program relies on."""
    weak: bool = False
    """Whether some atomic operation asks for less than sequential consistency."""
    clocks: dict[str, int] = field(default_factory=dict)
    """By monotonic clock the first of the cells with what it has shown last."""
    first: int = 0
    """The first cell that is memory of the program."""
    initial_values: Callable[[tree.Variable], list[int]] = lambda variable: []
    """The first values of a variable's cells."""
    ended: Callable[[tree.Variable], set[int]] = lambda variable: set()
    """The cells of a variable that have no first value, in unions with unlike members."""

    def number_of(self, function: tree.CFunction) -> int:
        """The number that stands for a function in pointers."""
        if function not in self.functions:
            self.functions.append(function)
        return -1 - self.functions.index(function)

    def function_at(self, number: int) -> tree.CFunction | None:
        """Return the function that a number stands for in pointers; None if it is none's."""
        return self.functions[-1 - number] if 0 <= -1 - number < len(self.functions) else None


@dataclass(frozen=True, slots=True)
class VariableLife:
    """The life of a mortal variable in one activation of its function; see `lives.py`."""

    address: Expr
    """Where the variable is."""
    alive: Expr
    """The address of the cell that says whether it is alive."""
    place: int = 0
    """The cell that says where it lives; 0 if its block is entered once."""
    number: int = -1
    """Its number among the objects whose addresses are compared."""


@dataclass(eq=False, slots=True)
class BlockScope:
    """A block that control is in, with the lives of the mortal variables that it declares."""

    node: object
    lives: list[VariableLife] = field(default_factory=list)
    cleanup: tree.Expression | None = None
    """What is called where the block is left (`tree.Guarded`)."""


@dataclass(frozen=True, slots=True)
class ArgumentList:
    """What a `va_list` goes through."""

    position: int
    """The cell that says which argument is next."""
    given: tuple[Scalar | Whole, ...]


@dataclass(eq=False, slots=True)
class CallFrame:
    """One activation of a function."""

    function: tree.CFunction
    depth: int
    exit: Label
    names: dict[tree.Variable, ObjectPlace] = field(default_factory=dict)
    known: dict[tree.Variable, Scalar] = field(default_factory=dict)
    """Parameters that are never assigned to, and whose value is known."""
    labels: dict[str, Label] = field(default_factory=dict)
    result: tuple[int, ...] = ()
    used: bool = True
    """Whether the caller uses what it returns."""
    wanted: PointerType | None = None
    """What the caller converts the `void *` to that it returns."""
    breaks: list[Label] = field(default_factory=list)
    continues: list[Label] = field(default_factory=list)
    switches: list[dict[int, Label]] = field(default_factory=list)
    scopes: list[BlockScope] = field(default_factory=list)
    """The blocks around the code that declare mortal variables."""
    levels: dict[Label, int] = field(default_factory=dict)
    """How many of these blocks are around the end of a loop or switch."""
    extra: tuple[Scalar | Whole, ...] = ()
    """The variable arguments, where the function reads them."""


@dataclass(eq=False, slots=True)
class SharedBody:
    """The code of a function that several calls share; see `return_sites.py`."""

    frame: CallFrame
    entry: Label
    site: CellDraft
    """The cell that says which call it returns to."""
    cell: int
    """The address of that cell."""
    sites: int = 0
    """How many calls there are."""
    exit: int | None = None
    """The location of its end; None if it never returns."""
    exit_depth: int = 0
    """How many atomic sections are around its end."""


@dataclass(eq=False, slots=True)
class CLowering(ThreadBuilder):
    """One thread's code on its way to an automaton."""

    machine: CProgram = field(kw_only=True)
    plan: CThread = field(kw_only=True)
    frames: list[CallFrame] = field(default_factory=list)
    around: dict[tree.CFunction, int] = field(default_factory=dict)
    """How often functions are running below `frames`, around a body that calls share."""
    bodies: dict[object, SharedBody] = field(default_factory=dict)
    """The bodies that calls share."""
    depths: dict[int, int] = field(default_factory=dict)
    """By location, how many atomic sections are around it."""
    frame_cells: dict[tuple[object, ...], int] = field(default_factory=dict)
    lives: dict[tuple[object, ...], list[VariableLife]] = field(default_factory=dict)
    """The lives of each mortal variable, in the order of the calls of its function."""
    survey: Survey = field(kw_only=True)
    trips: list[int | None] = field(default_factory=list)
    """For each loop around the code how often it runs at most, where that is known."""
    joining: list[bool] = field(default_factory=list)
    """For each of these loops whether threads are joined in it, and it has no known end."""
    scratch: int = 0
    """A cell of this thread that nobody reads."""
    cleanups: list[tuple[int, tree.Expression, tree.Expression]] = field(default_factory=list)
    """What `pthread_cleanup_push` has been given: the number of frames, the function and its
    argument."""
    once: int = 0
    """How many functions that run once are around the code."""
    lists: dict[Expr, ArgumentList] = field(default_factory=dict)
    """By the address of a `va_list` what it goes through."""
    thread_exit: Label | None = None
    """Where the thread ends."""
    unused: tree.Expression | None = None
    """The expression that is evaluated for what it does."""
    ignored: set[tree.Expression] = field(default_factory=set)
    """Calls whose value nobody uses."""
    wanted: dict[tree.Expression, PointerType] = field(default_factory=dict)
    """By call the pointer that its `void *` is converted to."""

    @property
    def frame(self) -> CallFrame:
        return self.frames[-1]

    @property
    def thread_title(self) -> str:
        """How this thread is called, apart from others that run the same function."""
        name, earlier = self.plan.name, self.machine.plans[: self.number]
        same = 1 + sum(each.name == name for each in earlier)
        return name if same == 1 else f"{name}#{same}"

    def nesting(self, function: tree.CFunction) -> int:
        """How many calls of a function are around the code."""
        here = sum(frame.function is function for frame in self.frames)
        return self.around.get(function, 0) + here

    # --- the tree ----------------------------------------------------------------------------

    def value(self, node: tree.Expression) -> Scalar | Whole:
        """Evaluate an expression."""
        handler = EXPRESSIONS.get(type(node))
        if handler is None:
            raise self.refuse(node, f"`{node.text}` is not supported here")
        return handler(self, node)

    def scalar(self, node: tree.Expression) -> Scalar:
        """Evaluate an expression whose value is one number or pointer."""
        value = self.value(node)
        if isinstance(value, Whole):
            raise self.refuse(node, f"`{node.text}` is a structure, not a number")
        return value

    def effect(self, node: tree.Expression) -> None:
        """Evaluate an expression for what it does."""
        self.ignored.update(_find_results(node))
        self.unused = node
        self.value(node)

    def execute(self, node: tree.Statement) -> None:
        """Execute a statement; its temporaries are free again afterwards."""
        handler = STATEMENTS.get(type(node))
        if handler is None:
            raise self.refuse(node, "this statement is not supported")
        mark = len(self.held)
        self.machine.place = node.span
        handler(self, node)
        self.release(mark)

    def known_value(self, variable: tree.Variable) -> Scalar | None:
        """The value of a parameter that is known and never changes."""
        if self.frames and (known := self.frame.known.get(variable)) is not None:
            return known
        return self.machine.constants.get(variable)

    def repetitions(self, most: int) -> int:
        """How often the code here runs at most, where loops tell; otherwise `most`."""
        total = 1
        for each in self.trips:
            if each is None:
                return most
            total *= each
        return max(total, 1) if total <= MOST_REPETITIONS else most

    @property
    def is_joining(self) -> bool:
        """Whether a thread that is created here may be joined before the next one is."""
        return any(self.joining)

    def is_unchanging(self, variable: tree.Variable) -> bool:
        """Whether a local variable keeps the value that its declaration gives it."""
        facts = self.survey.facts(self.frame.function)
        return variable not in facts.assigned and variable not in facts.exposed

    # --- control ---------------------------------------------------------------------------

    def go(self, label: Label, span: Span) -> None:
        """Let control go on at the label, and nowhere else."""
        self.lead_to(label, span)
        self.require_automaton().jump(label, span)

    def lead_to(self, label: Label, span: Span) -> None:
        """Note how many atomic sections are around a label: all who come agree."""
        automaton = self.require_automaton()
        if automaton.current is None:
            return
        depth = automaton.atomic_depth
        known = self.depths.setdefault(label.location, depth)
        if (known > 0) != (depth > 0):
            raise UnsupportedError.at(
                span,
                "control comes from here to a place that it also reaches outside of the atomic"
                " section; end the section on every way",
            )
        mode = Mode.ATOMIC if depth else Mode.VISIBLE
        automaton.locations[label.location] = Location(mode, span)

    def put(self, label: Label, span: Span) -> None:
        """Add the code that follows at the label."""
        automaton = self.require_automaton()
        self.lead_to(label, span)
        automaton.place(label, span)
        automaton.atomic_depth = self.depths.get(label.location, automaton.atomic_depth)

    def expect(self, label: Label) -> None:
        """Take a label for one that control gets to: a jump that comes later leads here."""
        automaton = self.require_automaton()
        if automaton.current is None and label.bound is None:
            label.bound = frozenset()
            self.depths.setdefault(label.location, automaton.atomic_depth)

    def label(self, span: Span) -> Label:
        return self.require_automaton().new_label(span)

    def split(self, test: Expr, span: Span, text: str, true: Label, false: Label) -> None:
        """Go to one of two labels."""
        self.lead_to(true, span)
        self.lead_to(false, span)
        self.branch(test, span, text, true, false)

    def begin_atomic(self, span: Span) -> None:
        """Begin an atomic section; one inside another adds nothing."""
        automaton = self.require_automaton()
        if automaton.atomic_depth == 0:
            automaton.atomic_depth = 1
            self.step(Kind.ATOMIC, span, "atomic", atomic=True)
            automaton.atomic_depth = 0
        automaton.atomic_depth += 1

    def end_atomic(self, span: Span) -> None:
        automaton = self.require_automaton()
        if automaton.atomic_depth == 0:
            if not self.reachable:
                return
            raise UnsupportedError.at(span, "there is no atomic section that could end here")
        automaton.atomic_depth -= 1
        if automaton.atomic_depth == 0 and self.reachable:
            outside = self.label(span)
            self.go(outside, span)
            self.put(outside, span)

    def stop(self, kind: Kind, span: Span, text: str) -> None:
        """Let nobody go on here: the process ends, or an assumption never holds."""
        automaton = self.require_automaton()
        nowhere = self.label(span)
        self.add_edge(kind, span, text, nowhere, guard=ZERO)
        automaton.current = None
        automaton.unplaced.discard(nowhere.location)

    # --- data ------------------------------------------------------------------------------

    def mark_set(self, key: str) -> None:
        automaton = self.require_automaton()
        automaton.bound = automaton.bound | {key}

    def mark_unset(self, key: str) -> None:
        automaton = self.require_automaton()
        automaton.bound = automaton.bound - {key}

    @property
    def is_provisional(self) -> bool:
        """Whether objects have got other addresses than those for which this code is built."""
        found = self.machine.objects
        return bool(self.machine.expected.objects) and (
            tuple(found) != self.machine.expected.objects[: len(found)]
        )

    def hold(self, expr: Expr, span: Span, type_: CType) -> Expr:
        """Keep a value safe from what comes later."""
        return self.keep(expr, span, role_of(type_))

    def hold_value(self, value: Scalar, span: Span) -> Scalar:
        """Keep a number or a pointer safe from what comes later."""
        return Scalar(value.type, self.hold(value.expr, span, value.type), value.inside)

    def assign_cells(self, span: Span, text: str, pairs: list[tuple[Expr, Expr]]) -> None:
        operations = [Assign(address, value) for address, value in pairs]
        self.step(Kind.LOCAL, span, text, operations=operations)

    def pinned(self, node: tree.Expression) -> ObjectPlace:
        """The object that an expression denotes, with its address kept."""
        place = PLACES[type(node)](self, node) if type(node) in PLACES else None
        if place is None:
            raise self.refuse(node, f"`{node.text}` denotes no object that Mazurka can follow")
        return self.pin_place(place, node.span)

    def pin_place(self, place: ObjectPlace, span: Span) -> ObjectPlace:
        """Keep the address of an object that is used twice."""
        if isinstance(place.address, Const):
            return place
        root = find_root(place.address)
        return place.pinned(self.keep(place.address, span, Role.POINTER), root)

    def pin(self, owner: Reference, span: Span) -> Reference:
        """Keep the address of a synchronization object that is used twice."""
        address = self.in_memory(self.keep(owner.address, span, Role.POINTER))
        return Reference(owner.shape, address, owner.shared, owner.title)

    def in_memory(self, address: Expr) -> Expr:
        """An address in a form that keeps analyses away from cells that are no memory.

        They do not see that it has been checked, nor that the temporary which holds it is zero only
        as long as it is not used; a part of such an object would be a program counter."""
        if not isinstance(address, Load):
            return address
        first = Const(self.machine.first)
        return Element(first, binary("sub", address, first), MOST_CELLS, 1)

    def refuse(self, node: tree.SyntaxNode, message: str) -> UnsupportedError:
        return UnsupportedError.at(node.span, message)


def _find_results(node: tree.Expression) -> Iterator[tree.Expression]:
    """The calls that give an expression its value."""
    match node:
        case tree.Call():
            yield node
        case tree.Conversion(operand=operand) | tree.Comma(right=operand):
            yield from _find_results(operand)
        case tree.Ternary(then=then, otherwise=otherwise):
            for each in (then, otherwise):
                yield from () if each is None else _find_results(each)
        case tree.StatementExpression(body=tree.Compound(body=(*_, tree.Evaluate() as last))):
            yield from _find_results(last.expression)


def role_of(type_: CType) -> Role:
    """How a cell of a type is shown, and what analyses expect in it."""
    inner = bare(type_)
    if isinstance(inner, PointerType):
        return Role.POINTER
    if isinstance(inner, SyncType) and inner.name in ("pthread_t", "thrd_t"):
        return Role.HANDLE
    if isinstance(inner, IntegerType) and inner.boolean:
        return Role.BOOL
    return Role.INT


MOST_REPETITIONS = 256

ExpressionHandler = Callable[["CLowering", tree.Expression], Scalar | Whole]
StatementHandler = Callable[["CLowering", tree.Statement], None]
PlaceHandler = Callable[["CLowering", tree.Expression], ObjectPlace]
LibraryHandler = Callable[["CLowering", tree.Call], Scalar]

EXPRESSIONS: dict[type[tree.Expression], Callable[..., Scalar | Whole]] = {}
PLACES: dict[type[tree.Expression], Callable[..., ObjectPlace]] = {}
STATEMENTS: dict[type[tree.Statement], Callable[..., None]] = {}
LIBRARY: dict[str, Callable[[CLowering, tree.Call], Scalar]] = {}
"""Functions of the library, by name."""
BUILTINS: dict[str, Callable[[CLowering, tree.Builtin], Scalar]] = {}
"""Functions of the compiler that take any type."""
UNREAD: dict[str, tuple[int, ...]] = {}
"""By function the positions of the arguments that its handler does not evaluate, from the end where
they are below 0; a call evaluates them."""

Handler = TypeVar("Handler", bound=Callable[..., object])


def expression(kind: type[tree.Expression]) -> Callable[[Handler], Handler]:
    """Register how a kind of expression becomes a value."""

    def register(handler: Handler) -> Handler:
        EXPRESSIONS[kind] = handler  # type: ignore[assignment]
        return handler

    return register


def denotes(kind: type[tree.Expression]) -> Callable[[Handler], Handler]:
    """Register how a kind of expression becomes a place."""

    def register(handler: Handler) -> Handler:
        PLACES[kind] = handler  # type: ignore[assignment]
        return handler

    return register


def statement(kind: type[tree.Statement]) -> Callable[[Handler], Handler]:
    """Register how a kind of statement is executed."""

    def register(handler: Handler) -> Handler:
        STATEMENTS[kind] = handler  # type: ignore[assignment]
        return handler

    return register


def library(*names: str, unread: tuple[int, ...] = ()) -> Callable[[Handler], Handler]:
    """Register functions of the library; the handler does not evaluate the arguments at `unread`
    positions."""

    def register(handler: Handler) -> Handler:
        for name in names:
            LIBRARY[name] = handler  # type: ignore[assignment]
            UNREAD[name] = unread
        return handler

    return register


def builtin(*names: str, unread: tuple[int, ...] = ()) -> Callable[[Handler], Handler]:
    """Register functions of the compiler; `unread` as for `library`."""

    def register(handler: Handler) -> Handler:
        for name in names:
            BUILTINS[name] = handler  # type: ignore[assignment]
            UNREAD[name] = unread
        return handler

    return register
