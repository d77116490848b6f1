"""`Event`."""

from __future__ import annotations

import ast

from mazurka.frontend.kit.events import EventShape
from mazurka.frontend.kit.shapes import Blueprint, Reference
from mazurka.frontend.python.arguments import evaluate_arguments, match_arguments
from mazurka.frontend.python.lowering import Lowering, callable_name
from mazurka.frontend.python.primitives.methods import (
    Handler,
    Methods,
    gives_up,
    methods_of,
    without_arguments,
)
from mazurka.frontend.python.values import Number, Value
from mazurka.ir.expressions import ONE


@methods_of(EventShape)
class EventMethods(Methods[EventShape]):
    def named(self) -> dict[str, Handler]:
        return {
            "set": without_arguments("set", self.shape.set),
            "clear": without_arguments("clear", self.shape.clear),
            "is_set": without_arguments("is_set", self.shape.is_set),
            "wait": self._wait,
        }

    def _wait(self, low: Lowering, owner: Reference, node: ast.Call) -> Value:
        """Wait for the flag; with a timeout, answer what it is when the time is up."""
        given = match_arguments(low, node, ("timeout",), "wait")
        if gives_up(low, given.get("timeout")):
            flag = self.shape.is_set(low, owner, low.span(node), called="wait")
            return Number(flag, boolean=True)
        self.shape.wait(low, owner, low.span(node))
        return Number(ONE, boolean=True)


@callable_name("mazurka.model.Event", "threading.Event")
def _event(low: Lowering, node: ast.Call) -> Value:
    evaluate_arguments(low, node, (), "Event")
    return Blueprint.default(EventShape(low.program.threads))
