"""Atomic operations of compilers and of C11; all orders are taken as sequentially consistent."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from mazurka.frontend.c import tree
from mazurka.frontend.c.access import read, write
from mazurka.frontend.c.conversions import convert
from mazurka.frontend.c.expressions import apply, compare
from mazurka.frontend.c.library.arguments import viewed_target_of
from mazurka.frontend.c.library.verifier import strip_conversions
from mazurka.frontend.c.lowering import BUILTINS, CLowering, builtin
from mazurka.frontend.c.memory_orders import ACQUIRE, RELAXED, RELEASE, SEQ_CST, find_relaxed
from mazurka.frontend.c.pointers import move_pointer
from mazurka.frontend.c.types import VOID, IntegerType, PointerType, RecordType, bare, size_of
from mazurka.frontend.c.values import ObjectPlace, Scalar
from mazurka.frontend.kit.arithmetic import binary, unary
from mazurka.ir.expressions import ONE, ZERO, Choice, Const, Expr, Load
from mazurka.ir.program import Assign, Check, Fault, Kind, Role

BOOL = IntegerType("_Bool", 8, False, True)


def _object(low: CLowering, node: tree.Builtin, position: int = 0) -> ObjectPlace:
    place = viewed_target_of(low, node.arguments[position])
    if place is None:
        raise low.refuse(node, f"`{node.text}` works on a null pointer")
    return place


def _order(low: CLowering, node: tree.Builtin, position: int) -> int:
    """The order that an argument asks for; the weakest one where it is not known."""
    if node.name.startswith("__sync"):
        return SEQ_CST
    argument = strip_conversions(node.arguments[position])
    if isinstance(argument, tree.IntegerConstant):
        return argument.value & 7  # gcc has hints in higher bits
    known = low.known_value(argument.variable) if isinstance(argument, tree.Name) else None
    if known is None or known.constant is None:
        low.effect(argument)
        return RELAXED
    return known.constant & 7


@contextmanager
def _atomically(
    low: CLowering,
    node: tree.Builtin,
    order: int | None = None,
    *,
    reads: bool = False,
    writes: bool = False,
    failure: int = SEQ_CST,
) -> Iterator[None]:
    """Make one step of an operation, whose last argument is its order if that is not given."""
    order = _order(low, node, -1) if order is None else order
    low.machine.weak |= order != SEQ_CST or failure != SEQ_CST
    edges = low.require_automaton().edges
    first = len(edges)
    low.begin_atomic(node.span)
    yield
    low.end_atomic(node.span)
    relaxed = find_relaxed(order, reads=reads, writes=writes, failure=failure)
    if relaxed:
        edges[first:] = [replace(edge, relaxed=relaxed) for edge in edges[first:]]


def _flag(low: CLowering, node: tree.Builtin) -> ObjectPlace:
    """The flag that an argument leads to: gcc's `atomic_flag` is a structure with one member."""
    place = _object(low, node)
    parts = low.machine.layouts.parts(place.type)
    if isinstance(bare(place.type), RecordType) and len(parts) == 1:
        return place.at(parts[0].type, place.address, place.title)
    return place


def _number(low: CLowering, node: tree.Builtin, position: int, place: ObjectPlace) -> Scalar:
    """An argument, as a value of the object."""
    value = convert(low, low.scalar(node.arguments[position]), place.type, node.arguments[position])
    return low.hold_value(value, node.span)


def _read(low: CLowering, place: ObjectPlace, node: tree.Builtin) -> Scalar:
    found = read(low, place, node.span)
    if not isinstance(found, Scalar):
        raise low.refuse(node, "atomic operations on structures are not supported")
    return low.hold_value(found, node.span)


@builtin("__atomic_load_n", "__c11_atomic_load")
def _load(low: CLowering, node: tree.Builtin) -> Scalar:
    place = _object(low, node)
    with _atomically(low, node, reads=True):
        return _read(low, place, node)


@builtin("__atomic_store_n", "__c11_atomic_store", "__c11_atomic_init")
def _store(low: CLowering, node: tree.Builtin) -> Scalar:
    place = _object(low, node)
    value = _number(low, node, 1, place)
    if node.name == "__c11_atomic_init":  # races with every other access (C11, 7.17.2.2)
        write(low, place.at(bare(place.type), place.address, place.title), value, node.span)
        return Scalar(VOID, ZERO)
    with _atomically(low, node, writes=True):
        write(low, place, value, node.span)
    return Scalar(VOID, ZERO)


@builtin("__atomic_exchange_n", "__c11_atomic_exchange", "__sync_lock_test_and_set",
         "__sync_swap")  # fmt: skip
def _exchange(low: CLowering, node: tree.Builtin) -> Scalar:
    return _modify(low, node, lambda old, new: new, old=True)


@builtin("__atomic_load")
def _generic_load(low: CLowering, node: tree.Builtin) -> Scalar:
    """The form for any type: the value goes to where the second argument leads."""
    place, target = _object(low, node), _object(low, node, 1)
    with _atomically(low, node, reads=True):
        value = _read(low, place, node)
    write(low, target, convert(low, value, target.type, node), node.span)
    return Scalar(VOID, ZERO)


@builtin("__atomic_store", "__atomic_exchange")
def _generic_exchange(low: CLowering, node: tree.Builtin) -> Scalar:
    """The form for any type: the new value is where the second argument leads, and the old one goes
    to where the third one leads."""
    place, source = _object(low, node), _object(low, node, 1)
    target = _object(low, node, 2) if node.name == "__atomic_exchange" else None
    given = convert(low, _read(low, source, node), place.type, node)
    with _atomically(low, node, reads=target is not None, writes=True):
        before = _read(low, place, node) if target is not None else None
        write(low, place, given, node.span)
    if target is not None and before is not None:
        write(low, target, convert(low, before, target.type, node), node.span)
    return Scalar(VOID, ZERO)


@builtin("__sync_lock_release", "__atomic_clear")
def _release(low: CLowering, node: tree.Builtin) -> Scalar:
    place = _flag(low, node)
    order = None if node.name == "__atomic_clear" else RELEASE
    with _atomically(low, node, order, writes=True):
        write(low, place, Scalar(place.type, ZERO), node.span)
    return Scalar(VOID, ZERO)


def _distance(low: CLowering, node: tree.Builtin, place: ObjectPlace) -> Scalar:
    """How many elements a pointer moves.

    C11's operations count elements, those of compilers bytes."""
    argument = node.arguments[1]
    while isinstance(argument, tree.Conversion) and isinstance(bare(argument.type), PointerType):
        argument = argument.operand  # a number, which compilers make an address of the place's type
    given = low.scalar(argument)
    if node.name.startswith("__c11"):
        return given
    pointer = bare(place.type)
    assert isinstance(pointer, PointerType)
    size = size_of(pointer.target)
    if size == 1 or given.constant == 0:
        return given
    wrong = f"`{node.text}` moves a pointer by a part of an element"
    if not size or (given.constant is not None and given.constant % size):
        raise low.refuse(node, f"{wrong}; compilers count bytes here")
    bytes_ = low.hold(given.expr, node.span, given.type)
    if not isinstance(bytes_, Const):
        whole = Check(binary("eq", binary("rem", bytes_, Const(size)), ZERO), Fault.BOUND, wrong)
        low.step(Kind.LOCAL, node.span, node.text, operations=(whole,))
    return Scalar(given.type, binary("div", bytes_, Const(size)))


def _modify(
    low: CLowering, node: tree.Builtin, change: Callable[[Scalar, Scalar], Scalar], *, old: bool
) -> Scalar:
    place = _object(low, node)
    moves = not {"add", "sub"}.isdisjoint(node.name.split("_"))
    if isinstance(bare(place.type), PointerType) and moves:
        given = _distance(low, node, place)
    else:
        given = _number(low, node, 1, place)
    given = low.hold_value(given, node.span)
    order = ACQUIRE if node.name == "__sync_lock_test_and_set" else None
    with _atomically(low, node, order, reads=True, writes=True):
        before = _read(low, place, node)
        after = convert(low, change(before, given), place.type, node)
        after = low.hold_value(after, node.span)
        write(low, place, after, node.span)
    return before if old else after


def _register_updates() -> None:
    operators = {"add": "+", "sub": "-", "or": "|", "and": "&", "xor": "^", "nand": "~&"}
    for word, operator in operators.items():
        for name, old in (
            (f"__atomic_fetch_{word}", True),
            (f"__c11_atomic_fetch_{word}", True),
            (f"__sync_fetch_and_{word}", True),
            (f"__atomic_{word}_fetch", False),
            (f"__sync_{word}_and_fetch", False),
        ):
            BUILTINS[name] = _update(operator, old)


def _update(operator: str, old: bool) -> Callable[[CLowering, tree.Builtin], Scalar]:
    def handle(low: CLowering, node: tree.Builtin) -> Scalar:
        def change(before: Scalar, given: Scalar) -> Scalar:
            if isinstance(bare(before.type), PointerType):
                step = given
                if operator not in "+-":
                    raise low.refuse(
                        node, f"`{node.text}` makes a number of an address, which is not modelled"
                    )
                if operator == "-":
                    step = Scalar(given.type, unary("neg", given.expr))
                return move_pointer(low, before, step, node)
            if operator == "~&":
                from mazurka.frontend.c.arithmetic import complement

                both = apply(low, "&", before, given, before.type, node.span, node.text)
                kind = bare(before.type)
                assert isinstance(kind, IntegerType)
                return Scalar(kind, complement(both.expr, kind))
            return apply(
                low, operator, before, given, before.type, node.span, node.text, wraps=True
            )

        return _modify(low, node, change, old=old)

    return handle


_register_updates()


@builtin("__sync_bool_compare_and_swap", "__sync_val_compare_and_swap")
def _compare_and_swap(low: CLowering, node: tree.Builtin) -> Scalar:
    place = _object(low, node)
    expected, desired = (_number(low, node, position, place) for position in (1, 2))
    with _atomically(low, node, reads=True, writes=True):
        before = _read(low, place, node)
        swapped = _swap(low, place, before, expected, desired, node)
    return Scalar(BOOL, swapped) if "bool" in node.name else before


def _swap(
    low: CLowering,
    place: ObjectPlace,
    before: Scalar,
    expected: Scalar,
    desired: Scalar,
    node: tree.Builtin,
    *,
    weak: bool = False,
) -> Expr:
    """Write the desired value if the object has the expected one; returns whether that was done.

    A weak exchange may fail where the object has the expected value."""
    span = node.span
    equal = binary("eq", before.expr, expected.expr)
    if isinstance(bare(place.type), PointerType):
        equal = compare(low, "==", before, expected, span, node.text)
    result = Const(low.take_temporary(Role.INT, span))
    yes, no, end = (low.label(span) for _ in range(3))
    low.split(equal, span, node.text, yes, no)
    low.put(yes, span)
    if weak:
        low.step(
            Kind.CHOOSE, span, "fail without a reason", operations=(Assign(result, Choice()),),
            choices=2, atomic=True,
        )  # fmt: skip
        done = low.label(span)
        low.split(Load(result), span, node.text, no, done)
        low.put(done, span)
    write(low, place, desired, span)
    low.step(Kind.LOCAL, span, "", operations=(Assign(result, ONE),))
    low.go(end, span)
    low.put(no, span)
    low.step(Kind.LOCAL, span, "", operations=(Assign(result, ZERO),))
    low.go(end, span)
    low.put(end, span)
    return Load(result)


@builtin("__atomic_compare_exchange_n", "__atomic_compare_exchange",
         "__c11_atomic_compare_exchange_strong",
         "__c11_atomic_compare_exchange_weak", unread=(3,))  # fmt: skip
def _compare_exchange(low: CLowering, node: tree.Builtin) -> Scalar:
    """Like `__sync_bool_compare_and_swap`; what was found goes to where the expected value was.

    A weak one that fails forever is not a hang: its thread may leave the loop by a choice."""
    place, guess = _object(low, node), _object(low, node, 1)
    found = read(low, guess, node.span)
    assert isinstance(found, Scalar)
    expected = low.hold_value(found, node.span)
    if node.name == "__atomic_compare_exchange":
        desired = convert(low, _read(low, _object(low, node, 2), node), place.type, node)
    else:
        desired = _number(low, node, 2, place)
    weak = node.name.endswith("weak")
    if not node.name.startswith("__c11"):
        wanted = strip_conversions(node.arguments[3])
        weak = not isinstance(wanted, tree.IntegerConstant) or wanted.value != 0
    orders = (_order(low, node, -2), _order(low, node, -1))
    with _atomically(low, node, orders[0], reads=True, writes=True, failure=orders[1]):
        before = _read(low, place, node)
        swapped = _swap(low, place, before, expected, desired, node, weak=weak)
    yes, no, end = (low.label(node.span) for _ in range(3))
    low.split(swapped, node.span, node.text, yes, no)
    low.put(no, node.span)
    write(low, guess, convert(low, before, guess.type, node), node.span)
    low.go(end, node.span)
    low.put(yes, node.span)
    low.put(end, node.span)
    return Scalar(BOOL, swapped)


@builtin("__atomic_test_and_set")
def _test_and_set(low: CLowering, node: tree.Builtin) -> Scalar:
    place = _flag(low, node)
    with _atomically(low, node, reads=True, writes=True):
        before = _read(low, place, node)
        write(low, place, Scalar(place.type, ONE), node.span)
    return Scalar(BOOL, before.expr)


@builtin("__sync_synchronize", "__atomic_thread_fence", "__atomic_signal_fence",
         "__c11_atomic_thread_fence", "__c11_atomic_signal_fence", "__builtin_ia32_pause",
         "__builtin_ia32_mfence", "__builtin_ia32_lfence", "__builtin_ia32_sfence",
         unread=(0,))  # fmt: skip
def _fence(low: CLowering, node: tree.Builtin) -> Scalar:
    """Memory is sequentially consistent: a fence adds nothing, nor does waiting a moment."""
    return Scalar(VOID, ZERO)
