"""What Python evaluates once, at `def` and `class`: defaults, and the ranges in annotations."""

from __future__ import annotations

import ast
from collections.abc import Set as AbstractSet

from mazurka.frontend.kit.shapes import Blueprint
from mazurka.frontend.python.module_level.module_run import ModuleRun
from mazurka.frontend.python.statements import declared_shape
from mazurka.frontend.python.survey import count_stores, find_free_names
from mazurka.frontend.python.values.kinds import Value
from mazurka.frontend.python.values.objects import find_field_defaults
from mazurka.frontend.python.values.owned import is_record_of_numbers


def evaluate_signature(
    run: ModuleRun, node: ast.FunctionDef, hidden: AbstractSet[str] = frozenset()
) -> None:
    """Evaluate a function's defaults and ranges, as Python does at `def`."""
    defaults = (*node.args.defaults, *node.args.kw_defaults)
    for default in (default for default in defaults if default is not None):
        for name in sorted(find_free_names(default) & hidden):
            raise run.low.refuse(
                default, f"`{name}` is a field here; defaults of methods cannot use fields"
            )
        value = _evaluate_default(run, default)
        if isinstance(value, Blueprint) and not is_record_of_numbers(run.low, value.shape):
            raise run.low.refuse(
                default,
                "a default made here would be one object for all calls; make it outside",
            )
    for argument in ast.walk(node.args):
        if isinstance(argument, ast.arg) and argument.annotation is not None:
            _evaluate_range(run, argument.annotation)


def _evaluate_default(run: ModuleRun, default: ast.expr) -> Value:
    value = None if run.waits(default) else run.evaluate(default)
    if value is None:
        raise run.low.refuse(
            default,
            f"a default is evaluated at `def`, where `{ast.unparse(default)}` is not known"
            " before the program runs; use a constant",
        )
    run.model.defaults[id(default)] = value
    return value


def _evaluate_range(run: ModuleRun, annotation: ast.expr) -> None:
    shape = declared_shape(run.low, annotation)
    if shape is not None:
        run.model.ranges[id(annotation)] = shape


def evaluate_fields(run: ModuleRun, node: ast.ClassDef) -> None:
    """Evaluate the defaults and ranges of fields and methods, as Python does at `class`."""
    fields = {field for part in node.body for field in count_stores([part])}
    for part in node.body:
        match part:
            case ast.AnnAssign(ast.Name(), annotation, value):
                _evaluate_range(run, annotation)
                for default in find_field_defaults(value):
                    _evaluate_default(run, default)
            case ast.FunctionDef():
                evaluate_signature(run, part, fields)
