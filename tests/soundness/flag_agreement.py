"""Compares a program with the one in which its flag locks have owners: state by state."""

from __future__ import annotations

from mazurka.ir.interpreter import Interpreter, Outcome, State, Step
from mazurka.ir.passes.flag_locks import own_flag_locks
from mazurka.ir.program import WRONG, Program, Role


def find_locks(program: Program) -> frozenset[int]:
    """The flags that have become locks."""
    return frozenset(
        address
        for address, cell in enumerate(own_flag_locks(program).cells)
        if cell.role is Role.OWNER and program.cells[address].role is not Role.OWNER
    )


def is_footprint(found: Step, expected: Step, locks: frozenset[int]) -> bool:
    """Whether two steps touch the same cells; one that sets a flag which is set need not write."""
    touched = found.footprint_reads | found.footprint_writes
    return (
        touched == expected.footprint_reads | expected.footprint_writes
        and found.footprint_writes - locks == expected.footprint_writes - locks
        and found.footprint_writes <= expected.footprint_writes
    )


def find_difference(program: Program, limit: int) -> str | None:
    """Say where the two programs differ; None if nowhere."""
    owned, locks = own_flag_locks(program), find_locks(program)
    before, after = Interpreter(program), Interpreter(owned)

    def mapped(state: State) -> State:
        return tuple(min(v, 1) if a in locks else v for a, v in enumerate(state))

    start = owned.initial_state()
    seen, images, waiting = {start}, {mapped(start)}, [start]
    while waiting and len(seen) < limit:
        state = waiting.pop()
        for thread in range(len(program.threads)):
            for choice in range(before.choices(mapped(state), thread)):
                expected = before.step(mapped(state), thread, choice)
                found = after.step(state, thread, choice)
                if (found.outcome, mapped(found.state)) != (expected.outcome, expected.state):
                    return f"thread {thread} at {state}: {found.outcome}, {expected.outcome}"
                if (found.fault and found.fault.message) != (
                    expected.fault and expected.fault.message
                ):
                    return f"thread {thread} at {state}: another fault"
                moved = found.outcome is Outcome.MOVED
                if moved and not is_footprint(found, expected, locks):
                    return f"thread {thread} at {state}: another footprint"
                if found.happened and found.state not in seen:
                    seen.add(found.state)
                    images.add(mapped(found.state))
                    waiting.append(found.state)
    fails = any(state[thread.counter] == WRONG for state in seen for thread in program.threads)
    if not waiting and not fails and len(images) != len(seen):
        return f"{len(images)} states became {len(seen)}"
    return None
