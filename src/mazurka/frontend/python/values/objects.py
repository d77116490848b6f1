"""Make objects: records, which are instances of classes, and arrays.

Two styles of classes are understood: annotated fields (`balance: Int[0, 9] = 0`, as in a
dataclass), and an `__init__` that does nothing but set fields (`self.lock = Mutex()`).
"""

from __future__ import annotations

import ast

from mazurka.frontend.kit.shapes import (
    BOOLEAN,
    INTEGER,
    TRUTH,
    ArrayShape,
    Blueprint,
    NumberShape,
    RecordShape,
    Shape,
)
from mazurka.frontend.python.annotations import RangeCheck
from mazurka.frontend.python.arguments import (
    bind_parameters,
    evaluate_arguments,
    evaluate_default,
    match_arguments,
)
from mazurka.frontend.python.lowering import CALLS, Activation, Lowering, callable_name
from mazurka.frontend.python.statements import check_parameter, declared_shape
from mazurka.frontend.python.survey import facts_of
from mazurka.frontend.python.values.containers import make_array
from mazurka.frontend.python.values.kinds import (
    Draft,
    Imported,
    Number,
    RecordClass,
    Sequence,
    Value,
    kind_of,
)
from mazurka.ir.expressions import Const, Expr

MOST_CELLS = 10_000
"""In one record: more than this is a mistake, and classes made of classes grow fast."""
MOST_ELEMENTS = 100_000
"""In one array, counted in cells."""


def instantiate(low: Lowering, definition: ast.ClassDef, node: ast.Call | None) -> Blueprint:
    """Make an instance; `node` is the call, None for an instance without arguments."""
    if definition.bases or definition.keywords:
        advice = "models have plain classes only"
        if any(ast.unparse(base).split(".")[-1] == "Thread" for base in definition.bases):
            advice = "give a plain class a method `run` and use `Thread(target=object.run)`"
        raise low.refuse(definition, f"`{definition.name}` inherits; {advice}")
    call = node or ast.Call(ast.Name(definition.name), [], [], lineno=definition.lineno)
    if definition.name in low.program.making:
        raise low.refuse(
            definition, f"`{definition.name}` contains itself; use an Array and indexes"
        )
    low.program.making.append(definition.name)
    made = _instance(low, definition, call)
    low.program.making.pop()
    return made


def _instance(low: Lowering, definition: ast.ClassDef, node: ast.Call) -> Blueprint:
    for part in definition.body:
        if isinstance(part, ast.FunctionDef) and part.name == "__init__":
            return _from_init(low, definition, part, node)
    return _from_fields(low, definition, node)


def _from_fields(low: Lowering, definition: ast.ClassDef, node: ast.Call) -> Blueprint:
    fields: dict[str, Blueprint | None] = {}
    shapes: dict[str, NumberShape | None] = {}
    for part in definition.body:
        match part:
            case ast.AnnAssign(ast.Name(name), annotation, value):
                shapes[name] = _number_shape(low, annotation)
                fields[name] = _field_default(low, name, annotation, value, shapes[name])
            case ast.FunctionDef() | ast.Pass() | ast.Expr(ast.Constant()):
                pass
            case ast.Assign([ast.Name(name)]):
                raise low.refuse(
                    part,
                    f"all instances would share this `{name}`; set it in `__init__`, or write a"
                    f" field: `{name}: Type`",
                )
            case _:
                raise low.refuse(
                    part, f"a field of `{definition.name}` is written `name: Type = value`"
                )
    given = evaluate_arguments(low, node, list(fields), definition.name)
    for name, argument in given.items():
        fields[name] = _field_value(low, name, argument, shapes[name], node)
    parts = {}
    for name, blueprint in fields.items():
        if blueprint is None:
            raise low.refuse(node, f"`{definition.name}` needs a value for `{name}`")
        parts[name] = blueprint
    return _assemble(low, definition, parts)


def _assemble(low: Lowering, definition: ast.ClassDef, parts: dict[str, Blueprint]) -> Blueprint:
    spans = {name: low.span(node) for name, node in _declarations(definition).items()}
    if sum(len(part.initials) for part in parts.values()) > MOST_CELLS:
        raise low.refuse(definition, f"`{definition.name}` is too large: over {MOST_CELLS:,} cells")
    fields = tuple((name, part.shape) for name, part in parts.items())
    shape = RecordShape(definition.name, fields, spans)
    return Blueprint(shape, tuple(i for part in parts.values() for i in part.initials))


def _declarations(definition: ast.ClassDef) -> dict[str, ast.AST]:
    """Find where a class says what its fields are: in its body, or in `__init__`."""
    found: dict[str, ast.AST] = {}
    for part in definition.body:
        match part:
            case ast.AnnAssign(ast.Name(name)):
                found[name] = part
            case ast.FunctionDef("__init__", body=body):
                for line in body:
                    match line:
                        case ast.Assign([ast.Attribute(ast.Name(), name)]):
                            found[name] = line
                        case ast.AnnAssign(ast.Attribute(ast.Name(), name)):
                            found[name] = line
    return found


def _number_shape(low: Lowering, annotation: ast.expr) -> NumberShape | None:
    match annotation:
        case ast.Name("int"):
            return INTEGER
        case ast.Name("bool"):
            return BOOLEAN
        case _:
            return declared_shape(low, annotation)


def _field_default(
    low: Lowering,
    name: str,
    annotation: ast.expr,
    value: ast.expr | None,
    shape: NumberShape | None,
) -> Blueprint | None:
    match value:
        case None:
            return make_blueprint(low, shape or low.value(annotation), annotation)
        case ast.Call(ast.Name("field") | ast.Attribute(_, "field"), [], keywords):
            for keyword in keywords:
                if keyword.arg == "default_factory":
                    return make_blueprint(low, low.value(keyword.value), keyword.value)
                if keyword.arg == "default":
                    made = evaluate_default(low, keyword.value)
                    return _field_value(low, name, made, shape, keyword.value)
            raise low.refuse(value, f"`{name}` needs `default=` or `default_factory=`")
        case _:
            made = evaluate_default(low, value)
            if isinstance(made, Blueprint) or (isinstance(made, Sequence) and made.growing):
                raise low.refuse(
                    value,
                    f"all instances would share this `{name}`; write `{name}: Type` without a"
                    " value, or `field(default_factory=Type)`",
                )
            return _field_value(low, name, made, shape, value)


def find_field_defaults(value: ast.expr | None) -> list[ast.expr]:
    """Find what is evaluated once, with the class, of how the default of a field is written."""
    match value:
        case None:
            return []
        case ast.Call(ast.Name("field") | ast.Attribute(_, "field"), [], keywords):
            return [keyword.value for keyword in keywords if keyword.arg == "default"]
        case _:
            return [value]


def _field_value(
    low: Lowering, name: str, value: Value, shape: NumberShape | None, node: ast.AST
) -> Blueprint:
    if isinstance(value, Number):
        return Blueprint(shape or INTEGER, (value.expr,))
    if isinstance(value, Sequence):
        array = make_array(value.items)
        if array is not None:
            return array
    if isinstance(value, Blueprint):
        return value
    if isinstance(value, Imported):
        return make_blueprint(low, value, node)
    if isinstance(value, Sequence):
        raise low.refuse(node, f"the field `{name}` cannot be such a list; use an Array or a Queue")
    raise low.refuse(
        node,
        f"the field `{name}` cannot be {kind_of(value)}; use numbers, Arrays and"
        " synchronization objects made for it",
    )


def _from_init(
    low: Lowering, definition: ast.ClassDef, init: ast.FunctionDef, node: ast.Call
) -> Blueprint:
    """Run `__init__` while elaborating; it may only set fields."""
    self_name = init.args.args[0].arg
    draft = Draft({})
    values = bind_parameters(low, init, node, {self_name: draft})
    low.program.frames += 1
    frame = Activation(low.program.frames, "__init__", facts_of(init.body), uncertain=low.uncertain)
    frame.variables.update(values)
    low.frames.append(frame)
    overlay, low.overlay = low.overlay, {}
    for part in init.body:
        _init_statement(low, part, self_name, draft)
    low.overlay = overlay
    low.frames.pop()
    return _assemble(low, definition, {n: blueprint for n, (_, blueprint) in draft.fields.items()})


def _init_statement(low: Lowering, part: ast.stmt, self_name: str, draft: Draft) -> None:
    shape: NumberShape | None = None
    match part:
        case ast.Assign([ast.Attribute(ast.Name(name), field)], value) if name == self_name:
            pass
        case ast.AnnAssign(ast.Attribute(ast.Name(name), field), annotation, ast.expr() as value):
            shape = _number_shape(low, annotation)
        case RangeCheck():
            check_parameter(low, part)
            return
        case ast.Expr(ast.Constant()) | ast.Pass():
            return
        case _:
            raise low.refuse(part, "`__init__` may only set fields: `self.name = value`")
    if field in draft.fields:
        raise low.refuse(part, f"`self.{field}` is set twice")
    made = low.value(value)
    if shape is None and isinstance(made, Number) and made.boolean:
        shape = TRUTH
    draft.fields[field] = (draft.size, _field_value(low, field, made, shape, part))


def find_method(low: Lowering, shape: RecordShape, name: str, node: ast.AST) -> ast.FunctionDef:
    """Find a method by its name; it needs a parameter `self` and no decorators."""
    for part in low.program.survey.classes[shape.name].body:
        if isinstance(part, ast.FunctionDef) and part.name == name:
            if part.decorator_list:
                raise low.refuse(part, f"the decorators of `{name}` are not supported")
            if not part.args.args:
                raise low.refuse(part, f"the method `{name}` needs the parameter `self`")
            return part
    raise low.refuse(node, f"`{shape.name}` has no field or method `{name}`")


def make_blueprint(low: Lowering, kind: Value, node: ast.AST) -> Blueprint:
    """Make an object of a type that an expression names, without arguments."""
    match kind:
        case Blueprint():
            return kind
        case NumberShape(low=first, high=last, inferred=False) if not first <= 0 <= last:
            return Blueprint(kind, (Const(first),))
        case Shape():
            return Blueprint.default(kind)
        case Imported("mazurka.model.Int" | "builtins.int"):
            return Blueprint.default(INTEGER)
        case Imported("mazurka.model.Bool" | "builtins.bool"):
            return Blueprint.default(BOOLEAN)
        case Imported(path) if path in CALLS:
            made = CALLS[path](low, _bare_call(node))
            if isinstance(made, Blueprint):
                return made
        case RecordClass():
            return instantiate(low, kind.definition, None)
    raise low.refuse(node, f"`{ast.unparse(node)}` is {kind_of(kind)}, not a type of objects")


def _bare_call(node: ast.AST) -> ast.Call:
    call = ast.Call(ast.Name("constructor", ast.Load()), [], [])
    return ast.fix_missing_locations(ast.copy_location(call, node))


@callable_name("mazurka.model.Array")
def _array(low: Lowering, node: ast.Call) -> Value:
    given = match_arguments(low, node, ("type", "length", "initial"), "Array")
    if "type" not in given or "length" not in given:
        raise low.refuse(node, "an array is written `Array(Type, length)`")
    one = make_blueprint(low, low.value(given["type"]), given["type"])
    length = low.constant(given["length"], "the length of an Array")
    if not 0 <= length * max(one.shape.size, 1) <= MOST_ELEMENTS:
        raise low.refuse(node, f"an Array of {length} elements is not possible here")
    shape = ArrayShape(one.shape, length)
    if "initial" not in given:
        return Blueprint(shape, one.initials * length)
    return Blueprint(shape, _initials(low, one.shape, length, given["initial"]))


def _initials(low: Lowering, shape: Shape, length: int, node: ast.expr) -> tuple[Expr, ...]:
    value = low.value(node)
    if isinstance(value, Number) and isinstance(shape, NumberShape):
        return (value.expr,) * length
    items = make_array(value.items) if isinstance(value, Sequence) else None
    if items is None or not isinstance(items.shape, ArrayShape):
        raise low.refuse(node, f"`{ast.unparse(node)}` does not give {length} first values")
    if items.shape.length != length or items.shape.size != length * shape.size:
        raise low.refuse(node, f"{items.shape.length} first values for an Array of length {length}")
    return items.initials
