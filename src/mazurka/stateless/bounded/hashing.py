"""Actions ⟨o, t, n, v, m⟩ and their hashes: section 3.3 of paper 001.

An action is the n-th one of thread t; o says whether it reads or writes the object v; m is the
number of the write, the one that it is or the one that it reads.  Here an action may touch several
objects, so it is t, n and a set of (v, o, m).  The hash of a state is the XOR of those of its
actions, so it is kept up to date in both directions by one operation.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Sequence
from typing import TypeAlias

StateHash: TypeAlias = int

EMPTY: StateHash = 0
"""The hash of the state in which nothing has happened."""


def hash_action(
    thread: int, position: int, touches: Sequence[tuple[bytes, bool, int]]
) -> StateHash:
    """The hash of an action, the same in all processes.

    A touch is the encoded name of an object, whether it is written, and the number of the write:
    the one it is, or the one that is read.  Their order means nothing.
    """
    parts = [b"%s%s%d" % (name, b"W" if written else b"R", m) for name, written, m in touches]
    parts.sort()
    text = b"%d,%d:" % (thread, position) + b";".join(parts)
    return int.from_bytes(hashlib.blake2b(text, digest_size=16).digest(), "big")


def encode_name(name: Hashable) -> bytes:
    """Encode the name of an object: different names differ, and all processes agree."""
    match name:
        case tuple():
            return b"(" + b"".join(map(encode_name, name)) + b")"
        case str():
            text = name.encode("utf-8", "surrogatepass")
            return b"s%d:" % len(text) + text
        case bytes():
            return b"b%d:" % len(name) + name
        case int():
            return b"i%d," % name
        case None:
            return b"n"
    raise TypeError(
        f"an object is named {name!r}; names are made of strings, integers, None and tuples"
    )
