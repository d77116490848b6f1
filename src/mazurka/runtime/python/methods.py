"""The methods of built-in containers, each one atomic access: what each does to its container."""

from __future__ import annotations

import array
from collections import deque
from typing import Any, Final

from mazurka.runtime.sharing.accesses import How

_READS = ("copy", "count", "index", "__eq__", "__ne__", "__add__", "__mul__", "__contains__")

_LIST: Final = {
    **dict.fromkeys(_READS, How.READ_ALL),
    **dict.fromkeys(("append", "insert", "extend", "remove", "clear"), How.CHANGE),
    **dict.fromkeys(("sort", "reverse"), How.CHANGE),
    "__iadd__": How.CHANGE,
    "__imul__": How.CHANGE,
    "__len__": How.LOOK,
    "pop": How.TAKE,
    "__getitem__": How.READ,
    "__setitem__": How.WRITE,
    "__delitem__": How.CHANGE,
}
_DEQUE: Final = {
    **_LIST,
    **dict.fromkeys(("appendleft", "extendleft", "rotate"), How.CHANGE),
    "popleft": How.TAKE,
}
_BYTES: Final = {
    **_LIST,
    **dict.fromkeys(("decode", "hex", "find", "rfind", "split", "startswith"), How.READ_ALL),
    **dict.fromkeys(("endswith", "tobytes", "tolist", "join", "strip"), How.READ_ALL),
    **dict.fromkeys(("fromlist", "frombytes", "byteswap"), How.CHANGE),
}
_DICT: Final = {
    **dict.fromkeys(("copy", "__eq__", "__ne__", "__or__", "__ror__"), How.READ_ALL),
    **dict.fromkeys(("update", "clear", "__ior__", "move_to_end", "subtract"), How.CHANGE),
    "__len__": How.LOOK,
    "__contains__": How.LOOK,
    "get": How.READ,
    "__getitem__": How.READ,
    "__setitem__": How.WRITE,
    "__delitem__": How.REMOVE,
    "setdefault": How.ENSURE,
    "pop": How.REMOVE,
    "popitem": How.TAKE,
    "most_common": How.READ_ALL,
    "elements": How.READ_ALL,
    "total": How.READ_ALL,
}
_SET: Final = {
    **dict.fromkeys(("copy", "union", "intersection", "difference", "issubset"), How.LOOK),
    **dict.fromkeys(("symmetric_difference", "issuperset", "isdisjoint"), How.LOOK),
    **dict.fromkeys(("__len__", "__contains__", "__eq__", "__ne__"), How.LOOK),
    **dict.fromkeys(("update", "clear", "intersection_update"), How.CHANGE),
    **dict.fromkeys(("difference_update", "symmetric_difference_update"), How.CHANGE),
    "add": How.ENSURE,
    "discard": How.REMOVE,
    "remove": How.REMOVE,
    "pop": How.TAKE,
}
METHODS: Final[dict[Any, dict[str, How]]] = {
    list: _LIST,
    deque: _DEQUE,
    bytearray: _BYTES,
    array.array: _BYTES,
    dict: _DICT,
    set: _SET,
}
TAKES_ELEMENTS: Final = frozenset({"extend", "extendleft", "update"})
"""Methods that go through an iterable, which may be code of the program."""
