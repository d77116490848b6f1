"""Rewrites assignments: `=`, `+=`, annotated ones, `del`, and targets of loops and `with`.

An assignment to one attribute or subscript becomes a call.  Where a target is one of several, or
belongs to a loop or `with`, it becomes the attribute `value` of an object that performs the
assignment when this attribute is set; so each target is evaluated exactly when it would be.
"""

from __future__ import annotations

import ast
from typing import Final, NamedTuple

from mazurka.runtime.python.events import Events
from mazurka.runtime.rewrite.source.expressions import Expressions
from mazurka.runtime.rewrite.source.nodes import Event, place
from mazurka.runtime.rewrite.source.scopes import mangle


class _TargetEvents(NamedTuple):
    """What is reported of an attribute, or of an element of a container."""

    write: Event
    target: Event
    hold: Event
    augment: Event
    delete: Event


_EVENTS: Final[dict[type[ast.expr], _TargetEvents]] = {
    ast.Attribute: _TargetEvents(
        *(Events.write_attribute, Events.attribute_target, Events.hold_attribute),
        *(Events.augment_attribute, Events.delete_attribute),
    ),
    ast.Subscript: _TargetEvents(
        *(Events.write_item, Events.item_target, Events.hold_item),
        *(Events.augment_item, Events.delete_item),
    ),
}


class Assignments(Expressions):
    """Rewrites assignments."""

    def __init__(self, tree: ast.Module, file: str) -> None:
        super().__init__(tree, file)
        self.unbound: list[str] = []
        """Names of the present function that only targets with a `value` bind."""

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        value = self.rewrite(node.value)
        if len(node.targets) == 1:
            target = node.targets[0]
            if isinstance(target, (ast.Attribute, ast.Subscript)):
                event = _EVENTS[type(target)].write
                call = self.call(event, target, value, *self.operands(target))
                return place(ast.Expr(call), node)
            if isinstance(target, ast.Name):
                node.value = self.report_binding(target, value)
                return node
        if any(isinstance(target, (ast.Tuple, ast.List)) for target in node.targets):
            value = self.call(Events.unpack, node.value, value)
        node.value = value
        node.targets = [self.rewrite_target(target) for target in node.targets]
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        if node.value is None:
            return node
        node.value = self.rewrite(node.value)
        if isinstance(node.target, ast.Name):
            node.value = self.report_binding(node.target, node.value)
        else:
            node.target = self.rewrite_target(node.target)  # type: ignore[assignment]
        return node

    # -- targets -----------------------------------------------------------------------------

    def rewrite_target(self, node: ast.expr) -> ast.expr:
        """Rewrite a target that is not alone."""
        if isinstance(node, (ast.Tuple, ast.List)):
            node.elts = [self.rewrite_target(element) for element in node.elts]
            return node
        if isinstance(node, ast.Starred):
            node.value = self.rewrite_target(node.value)
            return node
        target = self._target_object(node)
        return node if target is None else place(ast.Attribute(target, "value", ast.Store()), node)

    def _target_object(self, node: ast.expr) -> ast.expr | None:
        """An expression for the object that performs the assignment; None where none is needed."""
        if isinstance(node, (ast.Attribute, ast.Subscript)):
            return self.call(_EVENTS[type(node)].target, node, *self.operands(node))
        if isinstance(node, ast.Name):
            match self.sharing_of(node.id):
                case "global":
                    return self.call(Events.global_target, node, self.name_constant(node.id))
                case "captured":
                    self._keep_bound(node.id)
                    return self.call(Events.captured_target, node, self.capture(node))
        return None

    def _keep_bound(self, name: str) -> None:
        """Let a name that its function binds no more remain a variable of that function."""
        if mangle(name, self.class_name) in self.scope.bound:
            self.unbound.append(name)

    # -- augmented assignments ---------------------------------------------------------------

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        target, sign = node.target, ast.Constant(type(node.op).__name__)
        if isinstance(target, ast.Name):
            return self._augment_name(node, target, sign)
        events = _EVENTS[type(target)]
        held = self.call(events.hold, target, *self.operands(target))
        call = self.call(events.augment, node, held, self.rewrite(node.value), sign)
        return place(ast.Expr(call), node)

    def _augment_name(self, node: ast.AugAssign, target: ast.Name, sign: ast.Constant) -> ast.stmt:
        old = self.visit_Name(place(ast.Name(target.id, ast.Load()), target))
        is_shared = self.sharing_of(target.id) is not None
        if not is_shared and (isinstance(node.value, ast.Constant) or self.scope.kind == "class"):
            node.value = self.rewrite(node.value)
            return node
        new: ast.expr = self.call(Events.augment, node, old, self.rewrite(node.value), sign)
        return place(ast.Assign([target], self.report_binding(target, new)), node)

    # -- deletions ---------------------------------------------------------------------------

    def visit_Delete(self, node: ast.Delete) -> list[ast.stmt]:
        return [statement for target in node.targets for statement in self._delete(target)]

    def _delete(self, target: ast.expr) -> list[ast.stmt]:
        if isinstance(target, (ast.Tuple, ast.List)):
            return [statement for part in target.elts for statement in self._delete(part)]
        if isinstance(target, (ast.Attribute, ast.Subscript)):
            event = _EVENTS[type(target)].delete
            return [place(ast.Expr(self.call(event, target, *self.operands(target))), target)]
        assert isinstance(target, ast.Name)
        deletion = place(ast.Delete([target]), target)
        match self.sharing_of(target.id):
            case "global":
                call = self.call(Events.delete_global, target, self.name_constant(target.id))
                return [place(ast.Expr(call), target)]
            case "captured":
                before = self.report_binding(target, place(ast.Constant(None), target))
                return [place(ast.Expr(before), target), deletion]
        return [deletion]
