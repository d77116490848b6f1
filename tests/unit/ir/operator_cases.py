"""Corners of 64-bit arithmetic, with the results that docs/semantics.md prescribes."""

from __future__ import annotations

LARGEST = 2**63 - 1
SMALLEST = -(2**63)

BINARY_CASES = [
    ("add", LARGEST, 1, SMALLEST),
    ("sub", SMALLEST, 1, LARGEST),
    ("mul", 2**32, 2**31, SMALLEST),  # 2**63 wraps around
    ("mul", 2**32, 2**32, 0),
    ("floordiv", -7, 2, -4),  # -3.5 rounded down
    ("mod", -7, 2, 1),  # the divisor's sign
    ("floordiv", 7, -2, -4),
    ("mod", 7, -2, -1),
    ("div", -7, 2, -3),  # -3.5 rounded towards zero
    ("rem", -7, 2, -1),  # -7 - 2 * -3
    ("div", 7, -2, -3),
    ("rem", 7, -2, 1),
    ("floordiv", SMALLEST, -1, SMALLEST),
    ("div", SMALLEST, -1, SMALLEST),
    ("mod", SMALLEST, -1, 0),
    ("rem", SMALLEST, -1, 0),
    ("udiv", -1, 2, LARGEST),  # (2**64 - 1) div 2
    ("urem", -1, 10, 5),  # 2**64 = 18446744073709551616
    ("and", -1, 6, 6),
    ("or", 5, 2, 7),
    ("xor", -1, 5, -6),
    ("shl", 1, 63, SMALLEST),
    ("shl", 3, 63, SMALLEST),
    ("shr", -8, 1, -4),
    ("shr", -8, 63, -1),
    ("lshr", -1, 1, LARGEST),
    ("lshr", -1, 63, 1),
    ("lshr", -1, 0, -1),
    ("eq", 3, 3, 1),
    ("ne", 3, 3, 0),
    ("lt", -1, 0, 1),
    ("ult", -1, 0, 0),
    ("ule", 0, -1, 1),
    ("ule", 4, 4, 1),
    ("le", 4, 4, 1),
    ("gt", 4, 4, 0),
    ("ge", 4, 4, 1),
    ("min", -3, 2, -3),
    ("max", -3, 2, 2),
]

UNARY_CASES = [
    ("neg", 5, -5),
    ("neg", SMALLEST, SMALLEST),
    ("abs", -5, 5),
    ("abs", SMALLEST, SMALLEST),
    ("not", 0, 1),
    ("not", -2, 0),
    ("invert", 0, -1),
    ("invert", LARGEST, SMALLEST),
]

CONVERT_CASES = [
    (300, 8, False, 44),  # 300 - 256
    (200, 8, True, -56),  # 200 - 256
    (-1, 8, False, 255),
    (-1, 64, False, -1),  # all values are 64-bit two's complement
    (1, 1, True, -1),
    (2, 1, True, 0),
]
