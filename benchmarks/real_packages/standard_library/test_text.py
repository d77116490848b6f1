import configparser
import email.message
import http.cookiejar
import ipaddress
import json
import string
import uuid

import pytest
from together import run_together

pytestmark = pytest.mark.mazurka


def test_json():
    """holds: each call makes an encoder of its own, or uses one without state."""
    found = []
    run_together(
        lambda: found.append(json.dumps({"a": [1]})), lambda: found.append(json.loads("[1]"))
    )
    assert '{"a": [1]}' in found


def test_template():
    """holds: a template is not changed."""
    template = string.Template("$who")
    found = []
    run_together(
        lambda: found.append(template.substitute(who="a")),
        lambda: found.append(template.substitute(who="b")),
    )
    assert sorted(found) == ["a", "b"]


def test_add_section():
    """violated: the other thread adds the section after `has_section`."""
    config = configparser.ConfigParser()

    def add():
        if not config.has_section("s"):
            config.add_section("s")

    run_together(add, add)


def test_config_set():
    """holds: options of a section are stored one by one."""
    config = configparser.ConfigParser()
    config.add_section("s")
    run_together(lambda: config.set("s", "a", "1"), lambda: config.set("s", "b", "2"))
    assert sorted(config.options("s")) == ["a", "b"]


def test_replace_a_header():
    """violated: the header is deleted and added; both threads may add."""
    message = email.message.Message()

    def replace(text):
        del message["Subject"]
        message["Subject"] = text

    run_together(lambda: replace("a"), lambda: replace("b"))
    assert len(message.get_all("Subject")) == 1


def make_cookie(domain):
    return http.cookiejar.Cookie(
        0, "n", "v", None, False, domain, True, False, "/", True, False, None, True, None, None, {}
    )


def test_two_cookies():
    """holds: a jar stores cookies under its lock."""
    jar = http.cookiejar.CookieJar()
    run_together(
        lambda: jar.set_cookie(make_cookie("a.example")),
        lambda: jar.set_cookie(make_cookie("b.example")),
    )
    assert len(jar) == 2


def test_cookies_while_one_is_added():
    """holds: going through a jar goes through copies, which `list` makes in one step each."""
    jar = http.cookiejar.CookieJar()
    jar.set_cookie(make_cookie("a.example"))
    run_together(lambda: list(jar), lambda: jar.set_cookie(make_cookie("b.example")))


def test_network():
    """holds: what a network computes once is the same each time."""
    network = ipaddress.ip_network("10.0.0.0/30")
    found = []
    run_together(
        lambda: found.append(network.broadcast_address),
        lambda: found.append(network.broadcast_address),
    )
    assert found[0] == found[1]


def test_uuid5():
    """holds: the identifier depends on the name alone."""
    found = []
    run_together(
        lambda: found.append(uuid.uuid5(uuid.NAMESPACE_DNS, "a")),
        lambda: found.append(uuid.uuid5(uuid.NAMESPACE_DNS, "a")),
    )
    assert found[0] == found[1]


def test_uuid4():
    """holds: two random identifiers differ."""
    found = []
    run_together(lambda: found.append(uuid.uuid4()), lambda: found.append(uuid.uuid4()))
    assert found[0] != found[1]
