import paho.mqtt.client as mqtt
import pytest
from paho.mqtt.matcher import MQTTMatcher
from together import run_together

pytestmark = pytest.mark.mazurka


def client():
    return mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, client_id="x")


def test_message_ids():
    """holds: ids are made under a lock."""
    c = client()
    found = []
    run_together(lambda: found.append(c._mid_generate()), lambda: found.append(c._mid_generate()))
    assert sorted(found) == [1, 2]


def test_callbacks():
    """holds: added under the callback mutex."""
    c = client()
    run_together(
        lambda: c.message_callback_add("a/b", print), lambda: c.message_callback_add("a/c", print)
    )
    assert len(list(c._on_message_filtered.iter_match("a/b"))) == 1
    assert len(list(c._on_message_filtered.iter_match("a/c"))) == 1


def test_matcher():
    """holds: setdefault for each level of the trie."""
    m = MQTTMatcher()

    def put(k):
        m[k] = 1

    run_together(lambda: put("a/b"), lambda: put("a/c"))
    assert list(m.iter_match("a/b")) == [1]
    assert list(m.iter_match("a/c")) == [1]


def test_matcher_delete():
    """violated: the other thread prunes the node that this one adds to."""
    m = MQTTMatcher()
    m["a/b"] = 1

    def drop():
        del m["a/b"]

    def put():
        m["a/c"] = 1

    run_together(drop, put)
    assert list(m.iter_match("a/c")) == [1]


def test_publish_queue():
    """holds: messages that cannot be sent are kept, ids differ."""
    c = client()
    found = []
    run_together(
        lambda: found.append(c.publish("t", "a", qos=1).mid),
        lambda: found.append(c.publish("t", "b", qos=1).mid),
    )
    assert sorted(found) == [1, 2]
    assert len(c._out_messages) == 2
