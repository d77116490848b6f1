import httpcore
import pytest
from together import run_together

pytestmark = pytest.mark.mazurka

ANSWER = [b"HTTP/1.1 200 OK\r\n", b"Content-Length: 2\r\n", b"\r\n", b"ok"]


def make_pool(most=2):
    return httpcore.ConnectionPool(
        network_backend=httpcore.MockBackend(ANSWER), max_connections=most
    )


def make_request():
    return httpcore.Request("GET", "http://example.com/", headers={"Host": "example.com"})


def test_close_twice():
    """violated: both threads find the response open; the second one removes its request again."""
    with make_pool() as pool:
        response = pool.handle_request(make_request())
        run_together(response.close, response.close)


def test_two_requests():
    """holds: connections are assigned to requests under a lock, and closed outside of it."""
    statuses = []

    def ask():
        response = pool.handle_request(make_request())
        statuses.append(response.status)
        response.close()

    with make_pool() as pool:
        run_together(ask, ask)
    assert statuses == [200, 200]
