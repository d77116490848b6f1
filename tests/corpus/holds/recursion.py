# expect: holds
"""Functions that call themselves."""

from mazurka.model import Int

result: Int[0, 100] = 0


def factorial(n):
    if n <= 1:
        return 1
    return n * factorial(n - 1)


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def main():
    global result
    result = factorial(4)
    assert result == 24
    result = fibonacci(6)
    assert result == 8


threads = [main()]
