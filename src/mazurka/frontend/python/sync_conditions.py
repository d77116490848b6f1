"""Condition variables.

A condition has a lock (its own, or one it was given, whose place is known statically) and its
waiters: a first-in, first-out queue of thread numbers where some thread calls `notify`, which
wakes the longest waiter as CPython does; one flag a thread where there is only `notify_all`, since
the order cannot matter then.  A notification that finds nobody waiting is lost.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from itertools import pairwise

from mazurka.frontend.kit.arithmetic import binary, both, conditional, either, total
from mazurka.frontend.kit.shapes import Blueprint, CellForm
from mazurka.frontend.python.arguments import evaluate_arguments, match_arguments
from mazurka.frontend.python.calls import predicate
from mazurka.frontend.python.expressions import truth_of
from mazurka.frontend.python.lowering import Lowering, callable_name
from mazurka.frontend.python.sync import Handler, SyncShape, at, me
from mazurka.frontend.python.sync_locks import LockShape, gives_up, recursive_lock
from mazurka.frontend.python.values import (
    DraftField,
    Guard,
    Nothing,
    Number,
    Reference,
    Value,
    kind_of,
)
from mazurka.ir.expressions import ONE, ZERO, Const, Element, Expr, Load, negate
from mazurka.ir.program import Assign, Check, Fault, Kind, Operation, Role


@dataclass(frozen=True)
class ConditionShape(SyncShape):
    lock: LockShape
    queued: bool
    """Keep the order of the waiters: somebody wakes them one at a time."""
    lock_address: int | None = None
    """A lock that was given, at a fixed address."""
    lock_offset: int | None = None
    """A lock that was given, in the same record, counted from the condition's address."""
    lock_title: str = ""

    @property
    def title(self) -> str:
        return "Condition"

    @property
    def _own_lock(self) -> bool:
        return self.lock_address is None and self.lock_offset is None

    @property
    def _first_waiter(self) -> int:
        return self.lock.size if self._own_lock else 0

    def forms(self) -> tuple[CellForm, ...]:
        own = self.lock.forms() if self._own_lock else ()
        most = self.threads if self.queued else 1
        waiters = (
            CellForm(f".waiting[{number}]", 0, most, Role.SYNC) for number in range(self.threads)
        )
        return (*own, *waiters)

    def methods(self) -> dict[str, Handler]:
        return {
            "acquire": self._acquire,
            "release": self._release,
            "wait": self._wait,
            "wait_for": self._wait_for,
            "notify": self._notify,
            "notify_all": self._notify_all,
        }

    # --- the lock ------------------------------------------------------------------------------

    def lock_of(self, owner: Reference) -> Reference:
        if self.lock_address is not None:
            return Reference(self.lock, Const(self.lock_address), True, self.lock_title)
        if self.lock_offset is not None:
            return Reference(self.lock, at(owner, self.lock_offset), True, self.lock_title)
        return Reference(self.lock, owner.address, True, owner.title)

    def _acquire(self, low: Lowering, owner: Reference, node: ast.Call) -> Value:
        return self.lock.call(low, self.lock_of(owner), "acquire", node)

    def _release(self, low: Lowering, owner: Reference, node: ast.Call) -> Value:
        return self.lock.call(low, self.lock_of(owner), "release", node)

    def enter(self, low: Lowering, guard: Guard, node: ast.AST) -> None:
        self.lock.lock(low, self.lock_of(guard.owner), node)

    def leave(self, low: Lowering, guard: Guard, node: ast.AST) -> None:
        self.lock.unlock(low, self.lock_of(guard.owner), node)

    def _must_hold(self, low: Lowering, owner: Reference, what: str) -> Check:
        held = self.lock.held(low, self.lock_of(owner))
        return Check(held, Fault.LOCK, f"{what} on `{owner.title}` without holding its lock")

    # --- the waiters ---------------------------------------------------------------------------

    def _waiters(self, owner: Reference) -> list[Expr]:
        return [at(owner, self._first_waiter + number) for number in range(self.threads)]

    def _mine(self, low: Lowering, owner: Reference) -> Expr:
        """The acting thread's place; while threads are still counted, it may be too far."""
        return at(owner, self._first_waiter + low.number)

    def _enqueue(self, low: Lowering, owner: Reference) -> Operation:
        waiters = self._waiters(owner)
        if not self.queued:
            return Assign(self._mine(low, owner), ONE)
        length = total([binary("ne", Load(waiter), ZERO) for waiter in waiters])
        return Assign(Element(waiters[0], length, self.threads, 1), me(low))

    def _waits(self, low: Lowering, owner: Reference) -> Expr:
        """Whether the acting thread has not been notified yet."""
        waiters = self._waiters(owner)
        if not self.queued:
            return binary("ne", Load(self._mine(low, owner)), ZERO)
        result: Expr = ZERO
        for waiter in reversed(waiters):
            result = either(binary("eq", Load(waiter), me(low)), result)
        return result

    def _dequeue(self, owner: Reference) -> tuple[Operation, ...]:
        """The longest waiter leaves the queue, if there is one."""
        waiters = self._waiters(owner)
        moves = [Assign(place, Load(following)) for place, following in pairwise(waiters)]
        return (*moves, Assign(waiters[-1], ZERO))

    def _withdraw(self, low: Lowering, owner: Reference) -> tuple[Operation, ...]:
        """The acting thread leaves the queue from wherever it stands.

        It changes places with the next in line until it is last.  Threads stand in line once, so
        two equal entries side by side are the sign of a change that is half done.
        """
        waiters = self._waiters(owner)
        if not self.queued:
            return (Assign(self._mine(low, owner), ZERO),)
        operations: list[Operation] = []
        for place, following in pairwise(waiters):
            here, there = Load(place), Load(following)
            moved = both(binary("eq", here, there), binary("ne", there, ZERO))
            operations += [
                Assign(place, conditional(binary("eq", here, me(low)), there, here)),
                Assign(following, conditional(moved, me(low), there)),
            ]
        last = Load(waiters[-1])
        leave = conditional(binary("eq", last, me(low)), ZERO, last)
        return (*operations, Assign(waiters[-1], leave))

    # --- operations ----------------------------------------------------------------------------

    def _wait(self, low: Lowering, owner: Reference, node: ast.Call) -> Value:
        given = match_arguments(low, node, ("timeout",), "wait")
        timed = gives_up(low, given.get("timeout"))
        if low.building(node).atomic_depth and not timed:
            raise low.refuse(
                node,
                f"`{owner.title}.wait()` inside `atomic()` can never go through: others would have"
                " to run and notify in the middle of the step; put it outside, or use `assume`",
            )
        return self._await(low, owner, node, timed=timed)

    def _await(self, low: Lowering, owner: Reference, node: ast.AST, *, timed: bool) -> Value:
        lock = self.lock_of(owner)
        count = self._enter_queue(low, owner, lock, node)
        owned = self.lock.take(low, lock)
        if self.lock.depth:
            owned = (Assign(lock.address, me(low)), Assign(at(lock, 1), count))
        free = binary("eq", Load(lock.address), ZERO)
        notified = both(negate(self._waits(low, owner)), free)
        text = f"wake up at {owner.title}"
        if not timed:
            low.step(
                Kind.WAKE,
                node,
                text,
                guard=notified,
                operations=owned,
                atomic=True,
                subject=owner.address,
            )
            return Number(ONE, boolean=True)
        answer = Const(low.temporary(Role.BOOL, node))
        late = both(self._waits(low, owner), free)
        low.ways(
            Kind.WAKE,
            node,
            text,
            [
                (notified, (*owned, Assign(answer, ONE))),
                (late, (*self._withdraw(low, owner), *owned, Assign(answer, ZERO))),
            ],
            atomic=True,
            subject=owner.address,
        )
        return Number(Load(answer), boolean=True)

    def _enter_queue(self, low: Lowering, owner: Reference, lock: Reference, node: ast.AST) -> Expr:
        """Join the waiters and let go of the lock in one step; gives how often it was held."""
        operations: list[Operation] = [self._must_hold(low, owner, "wait")]
        count: Expr = ONE
        if self.lock.depth:
            kept = Const(low.temporary(Role.INT, node))
            operations += [Assign(kept, Load(at(lock, 1))), Assign(at(lock, 1), ZERO)]
            count = Load(kept)
        operations += [self._enqueue(low, owner), Assign(lock.address, ZERO)]
        low.step(
            Kind.WAIT,
            node,
            f"wait at {owner.title}",
            operations=operations,
            atomic=True,
            subject=owner.address,
        )
        return count

    def _wait_for(self, low: Lowering, owner: Reference, node: ast.Call) -> Value:
        """`while not predicate(): wait()`."""
        given = match_arguments(low, node, ("predicate", "timeout"), "wait_for")
        if "predicate" not in given or gives_up(low, given.get("timeout")):
            raise low.refuse(
                node, "`wait_for` takes a predicate and no timeout; use `wait` in a loop"
            )
        function = low.value(given["predicate"])
        automaton, span = low.building(node), low.span(node)
        head, again, after = (automaton.label(span) for _ in range(3))
        automaton.place(head, span)
        low.loop_depth += 1
        test = given["predicate"]
        low.branch(truth_of(low, predicate(low, function, test), test), test, after, again)
        automaton.place(again, span)
        if low.reachable:
            self._await(low, owner, node, timed=False)
            automaton.jump(head, span)
        low.loop_depth -= 1
        automaton.place(after, span)
        return Number(ONE, boolean=True)

    def _notify(self, low: Lowering, owner: Reference, node: ast.Call) -> Value:
        given = match_arguments(low, node, ("n",), "notify")
        count = low.constant(given["n"], "the argument of `notify`") if "n" in given else 1
        count = min(max(count, 0), self.threads)
        self._wake(low, owner, node, "notify", self._dequeue(owner) * count)
        return Nothing()

    def _notify_all(self, low: Lowering, owner: Reference, node: ast.Call) -> Value:
        evaluate_arguments(low, node, (), "notify_all")
        clear = tuple(Assign(waiter, ZERO) for waiter in self._waiters(owner))
        self._wake(low, owner, node, "notify_all", clear)
        return Nothing()

    def _wake(
        self,
        low: Lowering,
        owner: Reference,
        node: ast.AST,
        name: str,
        operations: tuple[Operation, ...],
    ) -> None:
        low.step(
            Kind.NOTIFY,
            node,
            f"{name} {owner.title}",
            operations=(self._must_hold(low, owner, name), *operations),
            atomic=True,
            subject=owner.address,
        )


@callable_name("mazurka.model.Condition", "threading.Condition")
def _condition(low: Lowering, node: ast.Call) -> Value:
    given = match_arguments(low, node, ("lock",), "Condition")
    threads = low.model.threads
    queued = "notify" in low.model.survey.calls
    lock = low.value(given["lock"]) if "lock" in given else Nothing()
    if isinstance(lock, Blueprint):  # a lock that nothing else uses
        if not isinstance(lock.shape, LockShape):
            raise low.refuse(node, f"a Condition needs a lock, not {kind_of(lock)}")
        return Blueprint.default(ConditionShape(threads, lock.shape, queued))
    match lock:
        case Nothing():
            return Blueprint.default(ConditionShape(threads, recursive_lock(low), queued))
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
