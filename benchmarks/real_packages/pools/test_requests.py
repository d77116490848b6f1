import pytest
from requests.cookies import RequestsCookieJar
from together import run_together

pytestmark = pytest.mark.mazurka


def test_two_cookies():
    """holds: the jar stores cookies under its lock."""
    jar = RequestsCookieJar()
    run_together(lambda: jar.set("a", "1"), lambda: jar.set("b", "2"))
    assert sorted(jar.keys()) == ["a", "b"]


def test_count_in_a_cookie():
    """violated: `get` and `set` are two sections of the lock."""
    jar = RequestsCookieJar()
    jar.set("n", "0")

    def count():
        jar.set("n", str(int(jar.get("n")) + 1))

    run_together(count, count)
    assert jar.get("n") == "2"
