"""The heap: a finite number of objects for each place that allocates."""

from __future__ import annotations

from mazurka.frontend.c import tree
from mazurka.frontend.c.access import set_any, write
from mazurka.frontend.c.library.arguments import target_of
from mazurka.frontend.c.lowering import Lowering, library
from mazurka.frontend.c.memory import allocate
from mazurka.frontend.c.types import (
    VOID,
    ArrayType,
    CType,
    IntegerType,
    PointerType,
    VoidType,
    bare,
    size_of,
)
from mazurka.frontend.c.values import Place, Value
from mazurka.ir.expressions import ZERO, Const

_ = (set_any, write, target_of, allocate, ArrayType, IntegerType, VoidType, size_of, Place)


def _pointed(type_: CType) -> CType:
    kind = bare(type_)
    return kind.target if isinstance(kind, PointerType) else VOID


@library("malloc", "calloc", "realloc", "free")
def _refuse(low: Lowering, node: tree.Call) -> Value:
    raise low.refuse(node, f"`{node.text}`: the heap is not supported yet; use global variables")


__all__ = ["Const", "ZERO"]
