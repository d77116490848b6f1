import mongomock
import pytest
from together import run_together

pytestmark = pytest.mark.mazurka


def test_first_documents():
    """violated: the store of a collection is made when it is first needed: one of two is lost."""
    things = mongomock.MongoClient().db.things
    run_together(lambda: things.insert_one({"_id": 1}), lambda: things.insert_one({"_id": 2}))
    assert things.count_documents({}) == 2


def test_increment():
    """violated: a document is found, and changed step by step, without a lock."""
    things = mongomock.MongoClient().db.things
    things.insert_one({"_id": 1, "n": 0})
    run_together(*[lambda: things.update_one({"_id": 1}, {"$inc": {"n": 1}})] * 2)
    assert things.find_one({"_id": 1})["n"] == 2
