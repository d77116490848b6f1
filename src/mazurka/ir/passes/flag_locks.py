"""Recognize locks by what they do: flags that a thread waits for, sets, and clears again.

    __VERIFIER_atomic_begin(); assume(m == 0); m = 1; __VERIFIER_atomic_end();

takes a lock, whatever it is called, and `m = 0` releases it.  Reductions know locks by their owner
cells: 0 if the lock is free, else the number of the thread that holds it plus one.  So a flag that
is used as a lock becomes such a cell: where a thread stores 1, it stores its number.

| before | after |
|---|---|
| a value `m` | `m != 0`, which is the same number |
| `m = 1`, `m = 0`, `m = c ? 1 : m` | `m = me`, `m = 0`, `m = c ? me : m` |
| an atomic section `t = m; assume(t == 0); m = 1` | one edge with the guard `m == 0` |
| `t = swap(m, 1)`, `t = cas(m, 0, 1)` | two edges, with the guards `m == 0` and `m != 0` |

**Which flags.**  All that is ever stored to the cell is 0, 1 or its own value, every access names
it, and the lock is *disciplined* (`mazurka.ir.passes.held`): who sets it has found it clear, who
clears it holds it.

**Why nothing changes.**  Map a state of the new program to one of the program: where the cell names
a thread it is 1.  The steps of both programs correspond to each other one by one, with the same
numbers of choices: every expression has the same value, and a store stores the same number but for
the map.  So both have the same faults and the same threads that wait or are stopped; the kinds of
edges stay as they are, so that a thread that an assumption stops before a lock does not wait for
it.  The number of states is the same as well (as long as no thread fails), since who holds the lock
follows from where the threads are: flags for which it does not are left as they are.  A schedule is
one of both programs.

*Sections.*  Edges of an atomic section are joined if the first has no guard and only stores to the
thread's own cells, without a fault: what it stores is put in the place of these cells in the guards
behind it.  If none of the guards holds, the step does not take place; where the thread then waits,
what it reads decides whom an assumption excuses, so sections are joined only before assumptions,
and where some guard always holds.

*Swaps.*  An edge that sets a flag without a guard that finds it clear is divided into one for each
of its values.  Each has a guard, and one of these holds.  Setting what is set already is left out.
If the step goes on at a merged location where the branch depends on what the swap has found, the
edge leads to where that branch leads: so the two ways part before the lock counts as held.

Owner cells do not race, so where races are looked for, flags stay as they are
(`mazurka.search.flag_locks`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from mazurka.ir.arithmetic import BINARY
from mazurka.ir.expressions import (
    COMPARISONS,
    ONE,
    ZERO,
    Binary,
    Choice,
    Conditional,
    Const,
    Expr,
    Load,
    Unary,
    rebuild,
    walk,
)
from mazurka.ir.passes.held import Ownership, conjuncts
from mazurka.ir.program import (
    STOPPING,
    Assign,
    Check,
    Edge,
    Kind,
    Mode,
    Operation,
    Program,
    Role,
    Thread,
)
from mazurka.ir.values.evaluation import cannot_fault, evaluate
from mazurka.ir.values.footprints import Footprints

MOST_PARTS = 60
"""How large a guard may become by what is put in it."""
JOINED = frozenset({Kind.LOCAL, Kind.ACCESS, Kind.ATOMIC})
"""Kinds of edges that may begin a section that is joined."""
FLAGS = frozenset({Role.INT, Role.BOOL})


def own_flag_locks(program: Program) -> Program:
    """Return the program with owners in its flag locks; itself, if it has none."""
    key = "_owned_flags"
    kept: dict[str, object] = program.__dict__
    if key not in kept:
        kept[key] = _own_flag_locks(program)
    found = kept[key]
    assert isinstance(found, Program)
    return found


def _own_flag_locks(program: Program) -> Program:
    flags = _find_flags(program)
    while flags:
        joined = _divide_swaps(_join_sections(program, flags), flags)
        owned = _give_owners(joined, flags)
        ownership = Ownership(owned)
        locks = ownership.disciplined & flags & _find_taken(owned)
        locks = frozenset(lock for lock in locks if _is_held_by_place(ownership, lock))
        if locks == flags:
            return owned
        flags = locks
    return program


def _find_flags(program: Program) -> frozenset[int]:
    """Find the cells that hold 0 and 1 only, and are never reached by a computed address."""
    footprints = Footprints(program)
    found = {
        address
        for address, cell in enumerate(program.cells)
        if cell.owner is None and cell.role in FLAGS and cell.initial == 0 and address
        if address not in program.declared and cell.low <= 0 < cell.high
    }
    for edge in program.edges:
        for store in edge.stores:
            if not isinstance(store.address, Const):
                found.difference_update(footprints.targets(store.address, edge.choices))
            elif not _is_flag_value(store.value, store.address):
                found.discard(store.address.value)
        exprs = [*edge.expressions, *([] if edge.subject is None else [edge.subject])]
        for part in (part for expr in exprs for part in walk(expr)):
            if isinstance(part, Load) and not isinstance(part.address, Const):
                found.difference_update(footprints.targets(part.address, edge.choices))
    written = {store.address.value for edge in program.edges for store in edge.stores
               if isinstance(store.address, Const)}  # fmt: skip
    return frozenset(found & written)


def _is_flag_value(value: Expr, address: Const) -> bool:
    """Whether a value is 0, 1 or that of the cell itself."""
    match value:
        case Conditional(_, then, otherwise):
            return _is_flag_value(then, address) and _is_flag_value(otherwise, address)
        case _:
            return value in (ZERO, ONE, Load(address))


def _find_taken(program: Program) -> set[int]:
    """Find the cells that an edge waits for and sets in one step."""
    found = set()
    for number, thread in enumerate(program.threads):
        for edge in thread.edges:
            waited = conjuncts(edge.guard)
            for store in edge.stores:
                free = Binary("eq", Load(store.address), ZERO)
                if isinstance(store.address, Const) and store.value == Const(number + 1):
                    found |= {store.address.value} if free in waited else set()
    return found


def _is_held_by_place(ownership: Ownership, lock: int) -> bool:
    """Whether a thread's location tells whether it holds a lock."""
    for number, thread in enumerate(ownership.program.threads):
        held = ownership.held[number]
        mine, free = (Assign(Const(lock), Const(value)) for value in (number + 1, 0))
        found = {edge.target for edge in thread.edges if mine in edge.operations}
        waiting = list(found)
        while waiting:
            for edge in thread.edges_at(waiting.pop()):
                if free not in edge.operations and edge.target not in found:
                    found.add(edge.target)
                    waiting.append(edge.target)
        known = [held[place] for place in found]
        if any(each is not None and lock not in each for each in known):
            return False
    return True


# --- owners ------------------------------------------------------------------------------------


def _give_owners(program: Program, flags: frozenset[int]) -> Program:
    cells = tuple(
        replace(cell, low=0, high=len(program.threads), role=Role.OWNER, points=None)
        if address in flags
        else cell
        for address, cell in enumerate(program.cells)
    )
    threads = tuple(
        replace(thread, edges=tuple(_own_edge(edge, number, flags) for edge in thread.edges))
        for number, thread in enumerate(program.threads)
    )
    text = program.text or program if program.has_assumptions else None
    return replace(program, cells=cells, threads=threads, text=text)


def _own_edge(edge: Edge, number: int, flags: frozenset[int]) -> Edge:
    if _find_named(edge).isdisjoint(flags):
        return edge
    guard = None if edge.guard is None else _read_flags(edge.guard, flags)
    clear = {
        part.left.address.value
        for part in conjuncts(guard)
        if isinstance(part, Binary) and part.operator == "eq" and part.right == ZERO
        if isinstance(part.left, Load) and isinstance(part.left.address, Const)
    } & flags
    operations: list[Operation] = []
    for operation in edge.operations:
        if isinstance(operation, Check):
            condition = _read_flags(_know_clear(operation.condition, clear), flags)
            operations.append(replace(operation, condition=condition))
            continue
        address = _read_flags(_know_clear(operation.address, clear), flags)
        value = _know_clear(operation.value, clear)
        if isinstance(address, Const) and address.value in flags:
            operations.append(Assign(address, _name_owner(value, number, flags)))
            clear -= {address.value}
        else:
            operations.append(Assign(address, _read_flags(value, flags)))
    return replace(edge, guard=guard, operations=tuple(operations))


def _find_named(edge: Edge) -> set[int]:
    """Find the cells that an edge names."""
    loads = (part for expr in edge.expressions for part in walk(expr) if isinstance(part, Load))
    addresses = [part.address for part in loads] + [store.address for store in edge.stores]
    return {address.value for address in addresses if isinstance(address, Const)}


def _know_clear(expr: Expr, clear: set[int]) -> Expr:
    """Put 0 for flags that the edge's guard has found clear."""
    if isinstance(expr, Load) and isinstance(expr.address, Const) and expr.address.value in clear:
        return ZERO
    return rebuild(expr, lambda part: _know_clear(part, clear))


def _name_owner(value: Expr, number: int, flags: frozenset[int]) -> Expr:
    """What is stored in place of a flag's value: the thread in place of 1."""
    match value:
        case Const(0):
            return value
        case Const():
            return Const(number + 1)
        case Conditional(test, then, otherwise):
            return Conditional(
                _read_flags(test, flags),
                _name_owner(then, number, flags),
                _name_owner(otherwise, number, flags),
            )
        case _:
            return value  # the cell itself


def _read_flags(expr: Expr, flags: frozenset[int]) -> Expr:
    """Put `m != 0` in the place of a flag's value, and compare the owner cell directly."""
    match expr:
        case Load(Const(address)) if address in flags:
            return Binary("ne", expr, ZERO)
        case Unary("not", Load(Const(address)) as flag) if address in flags:
            return Binary("eq", flag, ZERO)
        case Binary("eq" | "ne" as operator, Load(Const(address)) as flag, Const(0 | 1 as value)):
            if address in flags:
                same = (operator == "eq") == (value == 0)
                return Binary("eq" if same else "ne", flag, ZERO)
    return rebuild(expr, lambda part: _read_flags(part, flags))


# --- sections ----------------------------------------------------------------------------------


def _join_sections(program: Program, flags: frozenset[int]) -> Program:
    """Join the edges of atomic sections that touch flags, as far as guards can be moved ahead."""
    footprints = Footprints(program)
    threads = tuple(
        _Sections(footprints, number, flags).join() for number in range(len(program.threads))
    )
    return replace(program, threads=threads)


class _Sections:
    """The atomic sections of one thread."""

    def __init__(self, footprints: Footprints, number: int, flags: frozenset[int]) -> None:
        self.footprints, self.number, self.flags = footprints, number, flags
        self.thread: Thread = footprints.program.threads[number]
        self.leaving = [
            [self.thread.edges[position] for position in positions]
            for positions in self.thread.outgoing
        ]
        inner = {at for at, place in enumerate(self.thread.locations) if place.mode is Mode.ATOMIC}
        self.forward = inner - {
            at
            for at in inner
            if any(at in self.thread.reachable(to, inner) for to in self.thread.successors(at))
        }
        """Locations inside sections, on no cycle of these."""

    def join(self) -> Thread:
        """Join from the ends of sections to their beginnings."""
        order, _ = self.thread.search_inside(set(range(len(self.thread.locations))))
        for location in order:
            self.leaving[location] = self._join_from(location)
        reached = self._find_reached()
        edges = [
            edge for place, each in enumerate(self.leaving) if place in reached for edge in each
        ]
        return replace(self.thread, edges=tuple(edges))

    def _find_reached(self) -> set[int]:
        """Find the locations to which a thread may come; inside sections only by its edges."""
        modes = self.thread.locations
        found = {at for at, place in enumerate(modes) if place.mode is not Mode.ATOMIC}
        waiting = list(found)
        while waiting:
            for edge in self.leaving[waiting.pop()]:
                if edge.target not in found:
                    found.add(edge.target)
                    waiting.append(edge.target)
        return found

    def _join_from(self, location: int) -> list[Edge]:
        edges = self.leaving[location]
        found: list[Edge] = []
        for edge in edges:
            following = self.leaving[edge.target] if edge.target in self.forward else []
            joined = self._join_edges(edge, following, alone=len(edges) == 1)
            found += [edge] if joined is None else joined
        return found

    def _join_edges(self, edge: Edge, following: list[Edge], *, alone: bool) -> list[Edge] | None:
        """Join an edge with those behind it; None where that is not possible, or of no use."""
        if not following or edge.choices > 1:
            return None
        if any(each.choices > 1 or each.indivisible != edge.indivisible for each in following):
            return None
        if not any(self._touches_flags(each) for each in (edge, *following)):
            return None
        if len(following) == 1 and following[0].guard is None:
            (last,) = following
            if last.kind not in JOINED:
                return None
            return [replace(edge, target=last.target, operations=edge.operations + last.operations)]
        if edge.guard is not None or edge.kind not in JOINED or not alone:
            return None
        stops = all(each.kind in STOPPING for each in following)
        if not stops and not self.thread.is_exhaustive(edge.target):
            return None
        stored = self._find_stored(edge)
        if stored is None:
            return None
        found = []
        for each in following:
            guard = None if each.guard is None else _put_in(each.guard, stored)
            if guard is not None and not self._is_clean(guard, stored):
                return None
            if guard is not None and not cannot_fault(guard, self.footprints.lookup):
                return None
            guard = None if guard is None else _simplify(guard)
            operations = edge.operations + each.operations
            found.append(replace(each, source=edge.source, guard=guard, operations=operations))
        return found

    def _touches_flags(self, edge: Edge) -> bool:
        touched = self.footprints.of_edge(edge)
        return not self.flags.isdisjoint(touched.reads | touched.writes)

    def _find_stored(self, edge: Edge) -> dict[int, Expr] | None:
        """Return what an edge stores in the thread's own cells; None if it does anything else."""
        cells, lookup = self.footprints.program.cells, self.footprints.lookup
        stored: dict[int, Expr] = {}
        for operation in edge.operations:
            if not isinstance(operation, Assign) or not isinstance(operation.address, Const):
                return None
            address, value = operation.address.value, operation.value
            own = 0 < address < len(cells) and cells[address].owner == self.number
            if not own or address == self.thread.counter or not cannot_fault(value, lookup):
                return None
            values, cell = evaluate(value, lookup), cells[address]
            if values.low < cell.low or values.high > cell.high:
                return None
            put = _put_in(value, stored)
            if not self._is_clean(put, stored) or any(isinstance(p, Choice) for p in walk(put)):
                return None
            stored[address] = put
        return stored

    def _is_clean(self, expr: Expr, stored: Mapping[int, Expr]) -> bool:
        """Whether an expression is small, and reads no stored cell through a computed address."""
        parts = list(walk(expr))
        computed = (
            part.address
            for part in parts
            if isinstance(part, Load) and not isinstance(part.address, Const)
        )
        return len(parts) <= MOST_PARTS and all(
            stored.keys().isdisjoint(self.footprints.targets(address)) for address in computed
        )


# --- swaps -------------------------------------------------------------------------------------


def _divide_swaps(program: Program, flags: frozenset[int]) -> Program:
    """Divide edges that set a flag without having found it clear."""
    threads = []
    for number, thread in enumerate(program.threads):
        edges: list[Edge] = []
        for edge in thread.edges:
            flag = _find_swapped(edge, flags)
            parts = [edge] if flag is None else [_divide(edge, flag, value) for value in (0, 1)]
            if not _find_named(edge).isdisjoint(flags):
                parts = [_go_on(program, number, part) for part in parts]
            edges += parts
        threads.append(replace(thread, edges=tuple(edges)))
    return replace(program, threads=tuple(threads))


def _find_swapped(edge: Edge, flags: frozenset[int]) -> int | None:
    """Find the one flag that an edge may set whatever it is."""
    stores = [
        store
        for store in edge.stores
        if isinstance(store.address, Const) and store.address.value in flags
    ]
    if len(stores) != 1 or edge.choices > 1 or stores[0].value == ZERO:
        return None
    address = stores[0].address
    assert isinstance(address, Const)
    clear = Binary("eq", Load(address), ZERO)
    return None if clear in conjuncts(edge.guard) else address.value


def _divide(edge: Edge, flag: int, value: int) -> Edge:
    """Return the edge where the flag has a certain value."""
    place: Expr = Load(Const(flag))
    test = Binary("eq" if value == 0 else "ne", place, ZERO)
    guard = test if edge.guard is None else Conditional(edge.guard, test, ZERO)
    known: dict[int, Expr] = {flag: Const(value)}
    operations: list[Operation] = []
    for operation in edge.operations:
        if isinstance(operation, Check):
            condition = _fold(_put_in(operation.condition, known))
            operations.append(replace(operation, condition=condition))
            continue
        address = _fold(_put_in(operation.address, known))
        stored = _fold(_put_in(operation.value, known))
        if address == Const(flag):
            if stored == known[flag]:
                continue
            known[flag] = stored
        operations.append(Assign(address, stored))
    return replace(edge, guard=guard, operations=tuple(operations))


def _go_on(program: Program, number: int, edge: Edge) -> Edge:
    """Lead an edge to where the branches behind it lead, as far as these are known."""
    thread, seen = program.threads[number], set()
    while thread.locations[edge.target].mode is Mode.MERGED and edge.target not in seen:
        seen.add(edge.target)
        known = _find_constants(program, number, edge.operations)
        following = next(
            (
                each
                for each in thread.edges_at(edge.target)
                if each.guard is None or _fold(_put_in(each.guard, known)) != ZERO
            ),
            None,
        )
        if following is None or following.choices > 1:
            break
        guard = ONE if following.guard is None else _fold(_put_in(following.guard, known))
        if not isinstance(guard, Const):
            break
        operations = edge.operations + following.operations
        edge = replace(edge, target=following.target, operations=operations)
    return edge


def _find_constants(
    program: Program, number: int, operations: tuple[Operation, ...]
) -> dict[int, Expr]:
    """Find the thread's own cells that are known after some operations."""
    found: dict[int, Expr] = {}
    for operation in operations:
        if not isinstance(operation, Assign):
            continue
        if not isinstance(operation.address, Const):
            return {}
        address = operation.address.value
        found.pop(address, None)
        if 0 < address < len(program.cells) and program.cells[address].owner == number:
            found[address] = operation.value
    return {address: value for address, value in found.items() if isinstance(value, Const)}


def _fold(expr: Expr) -> Expr:
    """Work out comparisons and conditions of constants."""
    folded = rebuild(expr, _fold)
    match folded:
        case Binary(operator, Const(left), Const(right)) if operator in COMPARISONS:
            return Const(BINARY[operator](left, right))
        case Unary("not", Const(value)):
            return Const(int(value == 0))
        case Conditional(Const(value), then, otherwise):
            return then if value else otherwise
        case _:
            return folded


def _put_in(expr: Expr, stored: Mapping[int, Expr]) -> Expr:
    """Put what has been stored in the place of the cells."""
    if isinstance(expr, Load) and isinstance(expr.address, Const):
        return stored.get(expr.address.value, expr)
    return rebuild(expr, lambda part: _put_in(part, stored))


def _simplify(expr: Expr) -> Expr:
    """Undo comparisons of truths with 0 and 1, of which only the truth counts."""
    match expr:
        case Unary("not", inner):
            return _negate(_simplify(inner))
        case Binary("eq", inner, Const(0)) if _is_truth(inner):
            return _negate(_simplify(inner))
        case Binary("ne", inner, Const(0)) if _is_truth(inner):
            return _simplify(inner)
        case Conditional(test, then, otherwise):
            return Conditional(_simplify(test), _simplify(then), _simplify(otherwise))
        case _:
            return expr


def _negate(expr: Expr) -> Expr:
    match expr:
        case Binary("eq", left, right):
            return Binary("ne", left, right)
        case Binary("ne", left, right):
            return Binary("eq", left, right)
        case _:
            return Unary("not", expr)


def _is_truth(expr: Expr) -> bool:
    match expr:
        case Binary(operator, _, _):
            return operator in COMPARISONS
        case Unary("not", _):
            return True
        case Conditional(_, then, otherwise):
            return _is_truth(then) and _is_truth(otherwise)
        case _:
            return expr in (ZERO, ONE)
