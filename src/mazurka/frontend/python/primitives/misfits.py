"""Explain why an item does not fit into a queue, and what to write instead.

What the queue holds was declared, or derived from all `put` of the model.  The explanation names
the line of the declaration, or the lines that put items of another form into the same queue, as far
as the source shows them: a queue is known by how the model writes it, an item by its syntax.
"""

from __future__ import annotations

import ast
from copy import deepcopy

from mazurka.frontend.kit.items import ItemForm
from mazurka.frontend.kit.queues import Holder
from mazurka.frontend.kit.shapes import Blueprint, RecordShape, Reference
from mazurka.frontend.python.lowering import Lowering
from mazurka.frontend.python.survey import MessageForm, find_call_name, find_put_form, is_frozen
from mazurka.frontend.python.values.kinds import Number, Sequence, Value, kind_of

MOST_LINES = 3
"""Puts of so many forms are named."""


def explain_misfit(low: Lowering, shape: Holder, value: Value, put: ast.Call) -> str:
    """Explain why a value cannot be put in by this call."""
    match value:
        case Blueprint(RecordShape(name)) | Reference(RecordShape(name)):
            if not is_frozen(low.program.survey.classes[name]):
                return (
                    f"a queue holds items by value, and a `{name}` can change; make it"
                    " `@dataclass(frozen=True)`, or put a number that stands for it"
                )
            form: MessageForm = name
        case Sequence(items):
            form = len(items)
        case Number():
            form = 0
        case _:
            what = kind_of(value)
            return f"a queue holds numbers, not {what}; put a number that stands for it, such as -1"
    if advice := low.advise_on_select(_item_of(put)):
        return f"`{_write_item(put)}` is {kind_of(value)}{advice}"
    queue = _write_queue(put)
    made = _find_making(low, queue)
    if made is not None and _declared_type(made) is None:
        seen = _find_forms(low, queue) | {form: put}
        if len(seen) > 1:
            return _explain_mixture(queue, seen)
        declared = _declare(made, form)
        return f"the queues of this model differ, and `{queue}` gets {_describe(form)}; {declared}"
    where = f", as line {made.lineno} declares" if made is not None else ""
    return (
        f"`{queue}` holds {shape.item.title}{where}, and this puts {_describe(form)};"
        f" {_advise(shape.item, form, put, made)}"
    )


def _explain_mixture(queue: str, seen: dict[MessageForm, ast.Call]) -> str:
    """Name the lines that put items of different forms, and make the simplest of them alike."""
    puts = sorted(seen.items(), key=lambda each: each[1].lineno)
    told = [
        f"line {call.lineno} puts {_describe(form)} (`{_write_item(call)}`)" for form, call in puts
    ]
    *others, last = told[:MOST_LINES]
    lines = f"{', '.join(others)} and {last}"
    lengths = [form for form in seen if isinstance(form, int)]
    advice = "use a queue for each"
    if len(lengths) == len(seen):
        shortest = seen[min(lengths)]
        filled = _fill_up(shortest, max(lengths))
        advice = f"fill up the shorter ones (line {shortest.lineno}: `{filled}`), or {advice}"
    return f"all items of a queue have one form, but {lines}; {advice}"


def _advise(item: ItemForm, form: MessageForm, put: ast.Call, made: ast.Call | None) -> str:
    """Advise on one item that is not as declared."""
    if item.record is not None:
        return f"put a `{item.record.name}`, or use a queue of its own for this"
    if isinstance(form, int) and item.is_tuple and form < len(item.fields):
        return f"fill it up: `{_fill_up(put, len(item.fields))}`, or use a queue of its own for it"
    if made is None:
        return "put items of one form, or declare what the queue holds"
    fitting = _describe(len(item.fields) if item.is_tuple else 0)
    return f"put {fitting}, or {_declare(made, form)}"


def _declare(made: ast.Call, form: MessageForm) -> str:
    """Write the call that makes the queue with the type that an item needs."""
    wanted: ast.expr = ast.Name(form) if isinstance(form, str) else ast.Name("Int")
    call, before = deepcopy(made), _declared_type(made)
    if isinstance(form, int) and form:
        kept = list(before.elts[:form]) if isinstance(before, ast.Tuple) else []
        wanted = ast.Tuple([*kept, *[ast.Name("Int")] * (form - len(kept))])
    place = _type_position(made)
    if before is not None and len(made.args) > place:
        call.args[place] = wanted
    else:
        call.keywords = [each for each in call.keywords if each.arg != "type"]
        call.keywords.append(ast.keyword("type", wanted))
    return f"declare what it holds: `{ast.unparse(call)}`"


def _find_forms(low: Lowering, queue: str) -> dict[MessageForm, ast.Call]:
    """Find the forms of the items that are put into a queue, each with the first call."""
    survey = low.program.survey
    found: dict[MessageForm, ast.Call] = {}
    for call in survey.puts:
        form = find_put_form(call, survey.classes)
        if form is not None and _write_queue(call) == queue:
            found.setdefault(form, call)
    return found


def _find_making(low: Lowering, queue: str) -> ast.Call | None:
    """Find the call that makes a queue, if its name is given to one only."""
    calls = low.program.survey.named_calls.get(queue, ())
    makes = len(calls) == 1 and find_call_name(calls[0]).endswith(("Queue", "Channel"))
    return calls[0] if makes else None


def _declared_type(made: ast.Call) -> ast.expr | None:
    named = [each.value for each in made.keywords if each.arg == "type"]
    return next(iter([*made.args[_type_position(made) :], *named]), None)


def _type_position(made: ast.Call) -> int:
    """`Queue(maxsize, type)`, but `Channel(type)`."""
    return 0 if find_call_name(made) == "Channel" else 1


def _write_queue(put: ast.Call) -> str:
    assert isinstance(put.func, ast.Attribute)
    return ast.unparse(put.func.value)


def _write_item(put: ast.Call) -> str:
    return ast.unparse(_item_of(put))


def _item_of(put: ast.Call) -> ast.expr:
    named = [each.value for each in put.keywords if each.arg == "item"]
    return [*put.args, *named][0]


def _fill_up(put: ast.Call, length: int) -> str:
    """Write a put whose item is a tuple of this length, zeros at its end."""
    item = _item_of(put)
    parts = list(item.elts) if isinstance(item, ast.Tuple) else [item]
    whole = ast.Tuple([*parts, *[ast.Constant(0)] * (length - len(parts))])
    return f"{_write_queue(put)}.put({ast.unparse(whole)})"


def _describe(form: MessageForm) -> str:
    if isinstance(form, str):
        return f"a `{form}`"
    return f"a tuple of {form}" if form else "a number"
