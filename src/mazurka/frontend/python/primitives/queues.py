"""`Queue`, `SimpleQueue` and `LifoQueue`, rendezvous channels, and `select`."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from mazurka.frontend.kit.arithmetic import unary
from mazurka.frontend.kit.items import ItemForm
from mazurka.frontend.kit.queues import (
    UNBOUNDED_CAPACITY,
    ChannelShape,
    Holder,
    QueueShape,
    Way,
    select_item,
)
from mazurka.frontend.kit.shapes import (
    BOOLEAN,
    INTEGER,
    ArrayShape,
    Blueprint,
    NumberShape,
    RecordShape,
    Reference,
)
from mazurka.frontend.python.arguments import evaluate_arguments, match_arguments
from mazurka.frontend.python.conditions import evaluate_directly
from mazurka.frontend.python.expressions import truth_of
from mazurka.frontend.python.lowering import Lowering, callable_name
from mazurka.frontend.python.primitives.methods import (
    Handler,
    Methods,
    methods_of,
    refuse_meeting,
    without_arguments,
)
from mazurka.frontend.python.primitives.misfits import explain_misfit
from mazurka.frontend.python.survey import is_frozen
from mazurka.frontend.python.values.containers import list_comprehended, list_items
from mazurka.frontend.python.values.kinds import (
    Imported,
    Nothing,
    Number,
    RecordClass,
    Sequence,
    Value,
    kind_of,
)
from mazurka.frontend.python.values.objects import make_blueprint
from mazurka.ir.expressions import ONE, Const, Expr, Load
from mazurka.ir.program import Role

H = TypeVar("H", bound=Holder)


class HolderMethods(Methods[H]):
    """What holds items: `put` and `get`."""

    def put(self, low: Lowering, owner: Reference, node: ast.Call) -> Value:
        owner = low.pin(owner, low.span(node))
        expr = _blocking_item(low, node, "put", ("item", "block", "timeout"))
        fields = find_fields(low, self.shape, low.value(expr), expr, node)
        self.shape.put(low, owner, fields, low.span(node))
        return Nothing()

    def get(self, low: Lowering, owner: Reference, node: ast.Call) -> Value:
        _blocking_item(low, node, "get", ("block", "timeout"))
        return make_item(self.shape.item, self.shape.get(low, owner, low.span(node)))


def find_fields(
    low: Lowering, shape: Holder, value: Value, node: ast.expr, put: ast.Call
) -> list[Expr]:
    """Find the fields of an item that is put in; refuse one that does not fit."""
    item = shape.item
    match value:
        case Number(expr) if item.is_plain:
            return [expr]
        case Sequence(items) if item.is_tuple and len(items) == len(item.fields):
            numbers = [part.expr for part in items if isinstance(part, Number)]
            if len(numbers) == len(items):
                return numbers
            other = next(part for part in items if not isinstance(part, Number))
            raise low.refuse(node, f"a tuple in a queue holds numbers, not {kind_of(other)}")
        case Blueprint(RecordShape() as record, initials) if record == item.record:
            return list(initials)
        case Reference(RecordShape() as record) if record == item.record:
            return [
                low.load(Reference(field, value.cell(offset), value.shared, value.title), span)
                if value.shared
                else Load(value.cell(offset))
                for span in (low.span(node),)
                for _, offset, field in record.placed()
            ]
    raise low.refuse(node, explain_misfit(low, shape, value, put))


def make_item(item: ItemForm, fields: list[Expr]) -> Value:
    """Make a value of the fields of an item that was taken out."""
    if item.record is not None:
        return Blueprint(item.record, tuple(fields))
    numbers: list[Value] = [
        Number(expr, shape == BOOLEAN) for expr, shape in zip(fields, item.fields, strict=True)
    ]
    return Sequence(numbers, is_tuple=True) if item.is_tuple else numbers[0]


@methods_of(ChannelShape)
class ChannelMethods(HolderMethods[ChannelShape]):
    def named(self) -> dict[str, Handler]:
        return {"put": self.put, "get": self.get}

    def put(self, low: Lowering, owner: Reference, node: ast.Call) -> Value:
        advice = "put it outside, or use a Queue, whose `put` waits for room only"
        refuse_meeting(low, f"{owner.title}.put()", "take the item", advice, node)
        return super().put(low, owner, node)

    def refused(self) -> dict[str, str]:
        whole = dict.fromkeys(("qsize", "empty", "full"), "use a Queue, which holds items")
        return whole | dict.fromkeys(("task_done", "join"), "`put` waits for the receiver already")


@methods_of(QueueShape)
class QueueMethods(HolderMethods[QueueShape]):
    def named(self) -> dict[str, Handler]:
        return {
            "put": self.put,
            "get": self.get,
            "qsize": without_arguments("qsize", self.shape.size_now, boolean=False),
            "empty": without_arguments("empty", self.shape.empty),
            "full": without_arguments("full", self.shape.full),
            "task_done": without_arguments("task_done", self.shape.finish_task),
            "join": self._join,
        }

    def refused(self) -> dict[str, str]:
        return {
            "put_nowait": "test `full()` inside `with atomic():`, then `put`",
            "get_nowait": "test `empty()` inside `with atomic():`, then `get`",
            "shutdown": "put a special number that means the end",
        }

    def _join(self, low: Lowering, owner: Reference, node: ast.Call) -> Value:
        evaluate_arguments(low, node, (), "join")
        if not self.shape.counts_tasks:
            raise low.refuse(node, "`join` of a queue waits for `task_done`, which nobody calls")
        self.shape.join(low, owner, low.span(node))
        return Nothing()


def _blocking_item(low: Lowering, node: ast.Call, name: str, names: tuple[str, ...]) -> ast.expr:
    """Find the item of `put`; refuse operations that may raise Full or Empty."""
    given = match_arguments(low, node, names, name)
    block = given.get("block")
    waits = block is None or low.constant(block, "`block`") != 0
    if not waits or "timeout" in given:
        test = "full()" if name == "put" else "empty()"
        how = "with a timeout may raise" if waits else "without waiting raises"
        raise low.refuse(
            node,
            f"`{name}` {how} an exception, which models cannot catch; test"
            f" `{test}` inside `with atomic():`, then `{name}`",
        )
    if names[0] == "item" and "item" not in given:
        raise low.refuse(node, "`put` needs an item: `put(1)`")
    return given.get("item", node)


@callable_name("queue.PriorityQueue", "mazurka.model.PriorityQueue")
def _priority_queue(low: Lowering, node: ast.Call) -> Value:
    raise low.refuse(
        node, "a PriorityQueue is not supported; use a Queue, or an Array and a Condition"
    )


def _make_queue(low: Lowering, node: ast.Call, *, newest_first: bool) -> Value:
    given = match_arguments(low, node, ("maxsize", "type"), "Queue")
    maxsize = low.constant(given["maxsize"], "the size of a Queue") if "maxsize" in given else 0
    item = _declared_item(low, given.get("type"), node)
    if maxsize > 1000:
        raise low.refuse(node, f"a Queue of {maxsize} items is too large; use a small `maxsize`")
    return Blueprint.default(
        QueueShape(
            low.program.threads,
            item,
            maxsize if maxsize > 0 else UNBOUNDED_CAPACITY,
            bounded=maxsize > 0,
            newest_first=newest_first,
            counts_tasks="task_done" in low.program.survey.calls,
            advice="; give `maxsize`",
        )
    )


callable_name("mazurka.model.Queue", "queue.Queue", "queue.SimpleQueue")(
    partial(_make_queue, newest_first=False)
)
callable_name("mazurka.model.LifoQueue", "queue.LifoQueue")(partial(_make_queue, newest_first=True))


@callable_name("mazurka.model.Channel")
def _make_channel(low: Lowering, node: ast.Call) -> Value:
    given = match_arguments(low, node, ("type",), "Channel")
    item = _declared_item(low, given.get("type"), node)
    return Blueprint.default(ChannelShape(low.program.threads, item))


def _declared_item(low: Lowering, declared: ast.expr | None, node: ast.AST) -> ItemForm:
    """Find what a queue holds: as declared, or as all `put` of the model show."""
    if declared is not None:
        value = low.value(declared)
        if isinstance(value, Sequence):
            fields = [_field(low, part, declared) for part in value.items]
            return ItemForm(tuple(fields), is_tuple=True)
        if isinstance(value, RecordClass):
            return _record_item(low, value, declared)
        return ItemForm((_field(low, value, declared),))
    match list(low.program.survey.messages):
        case [int(length)] if length:
            return ItemForm((INTEGER,) * length, is_tuple=True)
        case [str(name)] if is_frozen(low.program.survey.classes[name]):
            return _record_item(low, RecordClass(low.program.survey.classes[name]), node)
        case _:
            return ItemForm()


def _field(low: Lowering, value: Value, node: ast.AST) -> NumberShape:
    match value:
        case NumberShape():
            return value
        case Imported("mazurka.model.Int" | "builtins.int"):
            return INTEGER
        case Imported("mazurka.model.Bool" | "builtins.bool"):
            return BOOLEAN
        case _:
            raise low.refuse(
                node,
                "a Queue holds numbers, tuples of numbers and frozen dataclasses of numbers: give"
                f" `Int[low, high]`, `(Int, Int)` or a class, not {kind_of(value)}",
            )


def _record_item(low: Lowering, record: RecordClass, node: ast.AST) -> ItemForm:
    name = record.definition.name
    if not is_frozen(record.definition):
        raise low.refuse(
            node,
            f"a queue holds items by value, and a `{name}` can change; make it"
            " `@dataclass(frozen=True)`",
        )
    shape = make_blueprint(low, record, node).shape
    assert isinstance(shape, RecordShape)
    fields = [field for _, field in shape.fields if isinstance(field, NumberShape)]
    if len(fields) < len(shape.fields) or not fields:
        raise low.refuse(node, f"a queue holds records of numbers; `{name}` has other fields")
    return ItemForm(tuple(fields), record=shape)


SELECT = "`select` takes queues and channels: `which, item = select(first, second)`"


@callable_name("mazurka.model.select")
def _select(low: Lowering, node: ast.Call) -> Value:
    """`which, item = select(first, second if ready else None)`: receive from one of several."""
    automaton = low.require_automaton()
    if automaton.atomic_depth and low.loop_depth > low.atomic_loops:
        raise low.refuse(
            node,
            "`select` in a loop inside `atomic()` would choose any number of times in one step;"
            " select before the section",
        )
    if node.keywords or not node.args:
        raise low.refuse(node, SELECT)
    candidates = [each for argument in node.args for each in _find_candidates(low, argument)]
    forms = _check_alike(low, [each.owner for each in candidates], node)
    for each in candidates:
        each.try_directly(low)
    if not automaton.atomic_depth:
        low.atomic_loops = low.loop_depth

    def evaluate(owners: Iterable[Reference]) -> list[Way]:
        pairs = zip(candidates, owners, strict=True)
        return [Way(owner, each.evaluate(low), each.text) for each, owner in pairs]

    owners = [each.owner for each in candidates]
    reads = not all(isinstance(each.direct, Const) for each in candidates)
    which, fields = select_item(low, owners, evaluate, low.span(node), reads=reads)
    return Sequence([Number(which), make_item(forms[0], fields)], is_tuple=True)


def _check_alike(low: Lowering, owners: list[Reference], node: ast.Call) -> list[ItemForm]:
    """Return what the queues hold; refuse queues that hold items of different kinds."""
    forms = [owner.shape.item for owner in owners if isinstance(owner.shape, Holder)]
    for owner, form in zip(owners, forms, strict=True):
        if (form.is_tuple, form.record, len(form.fields)) != (
            forms[0].is_tuple,
            forms[0].record,
            len(forms[0].fields),
        ):
            raise low.refuse(
                node,
                f"`{owners[0].title}` holds {forms[0].title} and `{owner.title}` {form.title};"
                " `select` is for queues that hold items of one kind",
            )
    return forms


@dataclass(slots=True)
class Candidate:
    """A queue that `select` may receive from, and the condition under which it counts."""

    owner: Reference
    test: ast.expr | None
    """The condition as it is written; None where there is none."""
    negated: bool
    """Whether the queue counts where the condition does not hold: `None if test else queue`."""
    overlay: dict[str, Value]
    """The variables of comprehensions around it."""
    direct: Expr | None = None
    """The condition as one expression, where that is possible."""

    @property
    def text(self) -> str:
        if self.test is None:
            return ""
        shown = ast.unparse(self.test)
        return f"not ({shown})" if self.negated else shown

    def try_directly(self, low: Lowering) -> None:
        """See whether the condition is an expression, which needs no edges of its own."""
        if self.test is None:
            self.direct = ONE
            return
        outer, low.overlay = low.overlay, self.overlay
        self.direct = evaluate_directly(low, self.test)
        low.overlay = outer

    def evaluate(self, low: Lowering) -> Expr:
        """Evaluate the condition as part of the step that waits."""
        condition = self.direct
        if condition is None:
            assert self.test is not None
            outer, low.overlay = low.overlay, self.overlay
            condition = truth_of(low, low.value(self.test), self.test)
            condition = low.keep(condition, low.span(self.test), Role.BOOL)
            low.overlay = outer
        return unary("not", condition) if self.negated else condition


def _find_candidates(low: Lowering, node: ast.expr) -> list[Candidate]:
    """Find the queues that an argument of `select` names, each with its condition."""
    match node:
        case ast.List(parts) | ast.Tuple(parts):
            return [each for part in parts for each in _find_candidates(low, part)]
        case ast.ListComp(part):
            found = list_comprehended(low, node, lambda: _find_candidates(low, part))
            return [each for some in found for each in some]
        case ast.IfExp(test, inner, ast.Constant(None)):
            return _find_named(low, inner, test, negated=False)
        case ast.IfExp(test, ast.Constant(None), inner):
            return _find_named(low, inner, test, negated=True)
        case _:
            return _find_named(low, node, None, negated=False)


def _find_named(
    low: Lowering, node: ast.expr, test: ast.expr | None, *, negated: bool
) -> list[Candidate]:
    value = low.value(node)
    owners = list_items(low, value, node) if _is_list(value) else [value]
    found = [owner for owner in owners or () if isinstance(owner, Reference)]
    if not found or len(found) < len(owners or ()):
        raise low.refuse(node, f"{SELECT}, not {kind_of(value)}")
    if not all(isinstance(owner.shape, Holder) for owner in found):
        raise low.refuse(node, f"{SELECT}, not {kind_of(found[0])}")
    return [Candidate(owner, test, negated, low.overlay) for owner in found]


def _is_list(value: Value) -> bool:
    return isinstance(value, Sequence) or (
        isinstance(value, Reference) and isinstance(value.shape, ArrayShape)
    )
