"""`Mutex`, `threading.Lock` and the recursive ones, `RWLock`, and `Condition`.

`Mutex` may be released by its holder only; `threading.Lock` by any thread, as in CPython.  The lock
of a condition is its own or one that is known by its name.
"""

from __future__ import annotations

import ast

from mazurka.frontend.kit.locks import ConditionShape, LockShape, RWLockShape
from mazurka.frontend.kit.shapes import Blueprint, Reference
from mazurka.frontend.python.arguments import evaluate_arguments, match_arguments
from mazurka.frontend.python.calls import call_predicate
from mazurka.frontend.python.expressions import truth_of
from mazurka.frontend.python.lowering import Lowering, callable_name
from mazurka.frontend.python.primitives.methods import (
    AcquiredMethods,
    Handler,
    Methods,
    gives_up,
    methods_of,
    refuse_meeting,
    without_arguments,
)
from mazurka.frontend.python.values.kinds import DraftField, Guard, Nothing, Number, Value, kind_of
from mazurka.ir.expressions import ONE, ZERO, Const


@methods_of(LockShape)
class LockMethods(AcquiredMethods[LockShape]):
    def named(self) -> dict[str, Handler]:
        release = without_arguments("release", self.shape.release)
        found: dict[str, Handler] = {"acquire": self.acquire, "release": release}
        if not self.shape.depth:
            found["locked"] = without_arguments("locked", self.shape.locked)
        return found


@callable_name("mazurka.model.Mutex")
def _mutex(low: Lowering, node: ast.Call) -> Value:
    given = evaluate_arguments(low, node, ("recursive",), "Mutex")
    recursive = given.get("recursive", Number(ZERO))
    if not isinstance(recursive, Number) or recursive.constant is None:
        raise low.refuse(node, "`recursive` must be True or False")
    depth = low.program.max_depth if recursive.constant else 0
    return Blueprint.default(LockShape(low.program.threads, depth=depth))


@callable_name("threading.Lock")
def _lock(low: Lowering, node: ast.Call) -> Value:
    evaluate_arguments(low, node, (), "Lock")
    return Blueprint.default(LockShape(low.program.threads, owned=False, title="Lock"))


@callable_name("threading.RLock", "mazurka.model.RMutex")
def _recursive_lock(low: Lowering, node: ast.Call) -> Value:
    evaluate_arguments(low, node, (), "RLock")
    return Blueprint.default(make_recursive_lock(low))


def make_recursive_lock(low: Lowering) -> LockShape:
    return LockShape(low.program.threads, depth=low.program.max_depth, title="RLock")


@methods_of(RWLockShape)
class RWLockMethods(Methods[RWLockShape]):
    def named(self) -> dict[str, Handler]:
        return {
            "read": lambda low, owner, node: _guard(low, owner, node, "read"),
            "write": lambda low, owner, node: _guard(low, owner, node, "write"),
            "acquire_read": without_arguments(None, self.shape.acquire_read),
            "release_read": without_arguments(None, self.shape.release_read),
            "acquire_write": without_arguments(None, self.shape.acquire_write),
            "release_write": without_arguments(None, self.shape.release_write),
        }

    def enter(self, low: Lowering, guard: Guard, node: ast.AST) -> None:
        if not guard.mode:
            raise low.refuse(node, f"write `with {guard.owner.title}.read():` or `.write():`")
        reads = guard.mode == "read"
        acquire = self.shape.acquire_read if reads else self.shape.acquire_write
        acquire(low, guard.owner, low.span(node))

    def leave(self, low: Lowering, guard: Guard, node: ast.AST) -> None:
        reads = guard.mode == "read"
        release = self.shape.release_read if reads else self.shape.release_write
        release(low, guard.owner, low.span(node))


def _guard(low: Lowering, owner: Reference, node: ast.Call, mode: str) -> Value:
    evaluate_arguments(low, node, (), mode)
    return Guard(owner, mode)


@callable_name("mazurka.model.RWLock")
def _rwlock(low: Lowering, node: ast.Call) -> Value:
    evaluate_arguments(low, node, (), "RWLock")
    return Blueprint.default(RWLockShape(low.program.threads))


@methods_of(ConditionShape)
class ConditionMethods(Methods[ConditionShape]):
    def named(self) -> dict[str, Handler]:
        return {
            "acquire": self._acquire,
            "release": self._release,
            "wait": self._wait,
            "wait_for": self._wait_for,
            "notify": self._notify,
            "notify_all": without_arguments("notify_all", self.shape.notify_all),
        }

    def _acquire(self, low: Lowering, owner: Reference, node: ast.Call) -> Value:
        return self._lock.call(low, self.shape.lock_of(owner), "acquire", node)

    def _release(self, low: Lowering, owner: Reference, node: ast.Call) -> Value:
        return self._lock.call(low, self.shape.lock_of(owner), "release", node)

    @property
    def _lock(self) -> LockMethods:
        return LockMethods(self.shape.lock)

    def enter(self, low: Lowering, guard: Guard, node: ast.AST) -> None:
        self.shape.lock.acquire(low, self.shape.lock_of(guard.owner), low.span(node))

    def leave(self, low: Lowering, guard: Guard, node: ast.AST) -> None:
        self.shape.lock.release(low, self.shape.lock_of(guard.owner), low.span(node))

    def _wait(self, low: Lowering, owner: Reference, node: ast.Call) -> Value:
        given = match_arguments(low, node, ("timeout",), "wait")
        timed = gives_up(low, given.get("timeout"))
        if not timed:
            advice = "put it outside, or use `await_`"
            refuse_meeting(low, f"{owner.title}.wait()", "run and notify", advice, node)
        return Number(self.shape.wait(low, owner, low.span(node), timed=timed), boolean=True)

    def _wait_for(self, low: Lowering, owner: Reference, node: ast.Call) -> Value:
        """Elaborate `while not predicate(): wait()`."""
        given = match_arguments(low, node, ("predicate", "timeout"), "wait_for")
        if "predicate" not in given or gives_up(low, given.get("timeout")):
            raise low.refuse(
                node, "`wait_for` takes a predicate and no timeout; use `wait` in a loop"
            )
        function = low.value(given["predicate"])
        automaton, span = low.require_automaton(), low.span(node)
        head, again, after = (automaton.new_label(span) for _ in range(3))
        automaton.place(head, span)
        low.loop_depth += 1
        test = given["predicate"]
        until = _condition_text(test)
        holds = truth_of(low, call_predicate(low, function, test), test)
        low.branch(holds, low.span(test), until, after, again)
        automaton.place(again, span)
        if low.reachable:
            self.shape.wait(low, owner, span, until=until)
            automaton.jump(head, span)
        low.loop_depth -= 1
        automaton.place(after, span)
        return Number(ONE, boolean=True)

    def _notify(self, low: Lowering, owner: Reference, node: ast.Call) -> Value:
        given = match_arguments(low, node, ("n",), "notify")
        count = low.constant(given["n"], "the argument of `notify`") if "n" in given else 1
        self.shape.notify(low, owner, low.span(node), count=count)
        return Nothing()


def _condition_text(predicate: ast.expr) -> str:
    """What a predicate asks, as it is shown to users."""
    if isinstance(predicate, ast.Lambda):
        return ast.unparse(predicate.body)
    return f"{ast.unparse(predicate)}()"


@callable_name("mazurka.model.Condition", "threading.Condition")
def _condition(low: Lowering, node: ast.Call) -> Value:
    given = match_arguments(low, node, ("lock",), "Condition")
    threads = low.program.threads
    queued = "notify" in low.program.survey.calls
    lock = low.value(given["lock"]) if "lock" in given else Nothing()
    if isinstance(lock, Blueprint):  # a lock that nothing else uses
        if not isinstance(lock.shape, LockShape):
            raise low.refuse(node, f"a Condition needs a lock, not {kind_of(lock)}")
        return Blueprint.default(ConditionShape(threads, lock.shape, queued))
    match lock:
        case Nothing():
            return Blueprint.default(ConditionShape(threads, make_recursive_lock(low), queued))
        case Reference(LockShape() as shape, Const(address), _, title):
            made = ConditionShape(threads, shape, queued, lock_address=address, lock_title=title)
            return Blueprint.default(made)
        case DraftField(draft, offset, LockShape() as shape):
            offset -= draft.size
            made = ConditionShape(
                threads, shape, queued, lock_offset=offset, lock_title="the condition's lock"
            )
            return Blueprint.default(made)
        case Reference(LockShape()):
            raise low.refuse(
                node, "the lock of a Condition must be one fixed lock, known by its name"
            )
        case _:
            raise low.refuse(node, f"a Condition needs a lock, not {kind_of(lock)}")
