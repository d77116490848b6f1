"""What a source consists of, as far as it is known here: a later Python may have more."""

from __future__ import annotations

import ast
from typing import Final

_NAMES: Final = (
    "Module FunctionDef AsyncFunctionDef ClassDef Return Delete Assign AugAssign AnnAssign"
    " TypeAlias For AsyncFor While If With AsyncWith Match Raise Try TryStar Assert Import"
    " ImportFrom Global Nonlocal Expr Pass Break Continue"
    " BoolOp NamedExpr BinOp UnaryOp Lambda IfExp Dict Set ListComp SetComp DictComp"
    " GeneratorExp Await Yield YieldFrom Compare Call FormattedValue JoinedStr Interpolation"
    " TemplateStr Constant Attribute Subscript Starred Name List Tuple Slice"
    " And Or Add Sub Mult MatMult Div Mod Pow LShift RShift BitOr BitXor BitAnd FloorDiv"
    " Invert Not UAdd USub Eq NotEq Lt LtE Gt GtE Is IsNot In NotIn Load Store Del"
    " comprehension ExceptHandler arguments arg keyword alias withitem match_case"
    " MatchValue MatchSingleton MatchSequence MatchMapping MatchClass MatchStar MatchAs MatchOr"
    " TypeVar ParamSpec TypeVarTuple"
)
KNOWN: Final = frozenset(_NAMES.split())
"""The names of the nodes of syntax trees that are rewritten, or left as they are for a reason."""


def require_known(tree: ast.Module) -> None:
    """Refuse a source with anything else: nobody knows what it touches."""
    for kind in set(map(type, ast.walk(tree))):
        if kind.__name__ not in KNOWN:
            raise SyntaxError(f"{kind.__name__} is not known")
