# expect: violated assert "used before it was ready"
"""Double-checked initialisation that publishes too early.

To save the lock, a thread first looks whether the object exists, and only then locks and looks
again.  The first thread announces the object before it has filled it in; a second one sees the
announcement, skips the lock, and uses half an object.

With `-D PUBLISH_LAST=1` the object is announced when it is complete, and the assertion holds (in
a memory that keeps the order of writes, as Mazurka's does).
"""

from mazurka.model import Bool, Int, Mutex

PUBLISH_LAST = 0

lock = Mutex()
exists: Bool = False
value: Int[0, 42] = 0


def instance():
    global exists, value
    if not exists:
        with lock:
            if not exists:
                if PUBLISH_LAST:
                    value = 42
                    exists = True
                else:
                    exists = True
                    value = 42
    return value


def user():
    assert instance() == 42, "used before it was ready"


threads = [user(), user()]
