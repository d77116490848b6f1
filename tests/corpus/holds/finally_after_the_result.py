# expect: holds
"""A result is computed before `finally` runs; variables set there are set on every way."""

from mazurka.model import Int


def f():
    x = 1
    try:
        return x
    finally:
        x = 5


def g():
    x: Int[0, 9] = 1
    y = 0
    for i in range(3):
        try:
            if i == 1:
                break
            y = i
        finally:
            k = i * 10
            x += 1
    return k + x + y


def h():
    out = 0
    try:
        try:
            out += 1
            return out
        finally:
            out += 10
    finally:
        out += 100


r = f()
assert r == 1
assert g() == 13
assert h() == 1
