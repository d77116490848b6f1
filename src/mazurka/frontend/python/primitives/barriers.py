"""`Barrier`."""

from __future__ import annotations

import ast

from mazurka.frontend.kit.barriers import BarrierShape
from mazurka.frontend.kit.shapes import Blueprint, Reference
from mazurka.frontend.python.arguments import match_arguments
from mazurka.frontend.python.lowering import Lowering, callable_name
from mazurka.frontend.python.primitives.methods import Handler, Methods, methods_of
from mazurka.frontend.python.values import Number, Value


@methods_of(BarrierShape)
class BarrierMethods(Methods[BarrierShape]):
    def named(self) -> dict[str, Handler]:
        return {"wait": self._wait}

    def refused(self) -> dict[str, str]:
        advice = "broken barriers are not modelled"
        return {"abort": advice, "reset": advice}

    def _wait(self, low: Lowering, owner: Reference, node: ast.Call) -> Value:
        if node.args or node.keywords:
            raise low.refuse(
                node, "`wait` of a Barrier with a timeout is not supported; use `wait()`"
            )
        return Number(self.shape.wait(low, owner, low.span(node)))


@callable_name("mazurka.model.Barrier", "threading.Barrier")
def _barrier(low: Lowering, node: ast.Call) -> Value:
    given = match_arguments(low, node, ("parties", "action", "timeout"), "Barrier")
    if "parties" not in given or len(given) > 1:
        raise low.refuse(node, "a barrier is written `Barrier(number_of_threads)`")
    parties = low.constant(given["parties"], "the number of threads of a Barrier")
    if parties < 1:
        raise low.refuse(node, "a Barrier needs at least one thread")
    return Blueprint.default(BarrierShape(low.program.threads, parties))
