import pytest
import requests
import responses
from together import run_together

pytestmark = pytest.mark.mazurka


def test_two_requests():
    """holds: calls are recorded under a lock."""
    with responses.RequestsMock() as mock:
        mock.add(responses.GET, "http://x.test/a", body="a")
        mock.add(responses.GET, "http://x.test/b", body="b")
        found = []
        run_together(
            lambda: found.append(requests.get("http://x.test/a").text),
            lambda: found.append(requests.get("http://x.test/b").text),
        )
        assert sorted(found) == ["a", "b"]
        assert len(mock.calls) == 2
