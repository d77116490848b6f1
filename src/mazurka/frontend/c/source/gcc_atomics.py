"""Atomic operations as gcc's `stdatomic.h` leaves them in preprocessed files.

gcc gives `__atomic_load` and its like pointers to `_Atomic` types, which the parser refuses: it has
`__c11_atomic_load` for these.  The calls that it has refused are written anew.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from mazurka.errors import UnsupportedError

_REFUSED = "address argument to atomic operation must be"
_CALL = re.compile(rb"__atomic_(\w+?)(_n)?\s*\(")
_FLAG = re.compile(rb"typedef _Atomic (struct\s*\{[^}]*\}\s*atomic_flag;)")

FORMS: Mapping[tuple[str, bool], str] = {
    ("load", False): "(*({1}) = __c11_atomic_load({0}, {2}))",
    ("load", True): "__c11_atomic_load({0}, {1})",
    ("store", False): "__c11_atomic_store({0}, *({1}), {2})",
    ("store", True): "__c11_atomic_store({0}, {1}, {2})",
    ("exchange", False): "(*({2}) = __c11_atomic_exchange({0}, *({1}), {3}))",
    ("exchange", True): "__c11_atomic_exchange({0}, {1}, {2})",
    ("compare_exchange", False): "__c11_atomic_compare_exchange_weak({0}, {1}, *({2}), {4}, {5})",
    ("compare_exchange", True): "__c11_atomic_compare_exchange_weak({0}, {1}, {2}, {4}, {5})",
    **{
        (f"fetch_{word}", False): f"__c11_atomic_fetch_{word}({{0}}, {{1}}, {{2}})"
        for word in ("add", "sub", "or", "and", "xor", "nand")
    },
}
"""What a call means whose pointer leads to an `_Atomic` type: by its name, and whether it ends with
`_n`, with the numbers of its arguments."""


def find_refused(diagnostics: Iterable[Any]) -> list[int]:
    """Where calls begin that the parser has refused for an `_Atomic` type."""
    return [each.location.offset for each in diagnostics if each.spelling.startswith(_REFUSED)]


def simplify_flags(text: str) -> str:
    """Let `atomic_flag` be a plain structure: only functions work on it, and they are atomic."""
    plain = _FLAG.sub(rb"typedef         \1", text.encode())
    return plain.decode()


def rewrite_calls(text: str, places: Iterable[int]) -> str:
    """Write calls anew for `_Atomic` types; they begin at these bytes.

    The last comes first: so what is inside of another call is done when that one is read."""
    data = text.encode()
    for place in sorted(set(places), reverse=True):
        found = _CALL.match(data, place)
        form = FORMS.get((found[1].decode(), found[2] is not None)) if found else None
        if found is None or form is None:
            continue
        arguments, end = _split_arguments(data, found.end())
        if arguments[3:4] in ([b"0"], [b"false"]):
            form = form.replace("_weak", "_strong")
        made = form.format(*(each.decode() for each in arguments))
        data = data[:place] + made.encode() + data[end:]
    return data.decode()


def _split_arguments(data: bytes, start: int) -> tuple[list[bytes], int]:
    """The arguments of a call, from behind its parenthesis on, and where the call ends."""
    found, depth, begin, at = [], 0, start, start
    while at < len(data):
        letter = data[at : at + 1]
        if letter in (b'"', b"'"):
            at = _skip_text(data, at)
            continue
        if letter in (b"(", b"[", b"{"):
            depth += 1
        elif letter in (b")", b"]", b"}") and depth:
            depth -= 1
        elif (letter == b"," and not depth) or letter == b")":
            found.append(data[begin:at].strip())
            begin = at + 1
            if letter == b")":
                return found, begin
        at += 1
    raise UnsupportedError("a call of an atomic operation does not end")


def _skip_text(data: bytes, at: int) -> int:
    """Behind the literal that begins here."""
    quote = data[at]
    at += 1
    while at < len(data) and data[at] != quote:
        at += 2 if data[at : at + 1] == b"\\" else 1
    return at + 1
