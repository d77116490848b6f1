# expect: violated assert "three and four"
"""Only one combination passes the assumption."""

from mazurka.model import assume, choose


def triangle():
    a = choose(range(1, 6))
    b = choose(range(1, 6))
    assume(a < b)
    assume(a * a + b * b == 25)
    assert a == 4, "three and four"


threads = [triangle()]
