import pytest
from pubsub.core import Publisher
from together import run_together

pytestmark = pytest.mark.mazurka


def test_one_topic_of_a_name():
    """violated: `getOrCreateTopic` looks for the name and makes a topic in two steps."""
    topics = Publisher().getTopicMgr()
    made = []

    def make():
        made.append(topics.getOrCreateTopic("a"))

    run_together(make, make)
    assert made[0] is made[1]


def test_two_messages():
    """holds: sending only reads."""
    publisher = Publisher()
    heard = []

    def listener(number):
        heard.append(number)

    publisher.subscribe(listener, "topic")
    run_together(
        lambda: publisher.sendMessage("topic", number=1),
        lambda: publisher.sendMessage("topic", number=2),
    )
    assert sorted(heard) == [1, 2]
