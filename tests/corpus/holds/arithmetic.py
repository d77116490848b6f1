# expect: holds
"""Python's arithmetic on numbers that vary."""

from mazurka.model import Int, choose

result: Int[-99, 99] = 0


def main():
    global result
    a = choose(-7, -6, -1, 0, 1, 6, 7)
    b = choose(-3, -1, 2, 3)
    result = a // b
    quotient = result
    result = a % b
    remainder = result
    assert quotient * b + remainder == a
    assert (0 <= remainder < b) if b > 0 else (b < remainder <= 0)
    assert abs(a) == max(a, -a)
    assert min(a, b) + max(a, b) == a + b
    assert (a & b) + (a | b) == a + b
    assert a ^ b == (a | b) - (a & b)
    assert ~a == -a - 1
    assert a << 2 == a * 4
    assert a >> 1 == a // 2
    assert -7 // 2 == -4 and -7 % 3 == 2 and 7 % -3 == -2
    assert not a or a


threads = [main()]
