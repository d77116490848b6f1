"""Which worker of a cluster a state belongs to."""

from __future__ import annotations

from itertools import product

import numpy as np
from tests.unit.ir.programs import modular_counters

from mazurka.ir.native.layout import make_layout
from mazurka.stateful.cluster.placement import Observed, choose_placement, deal_out

VALUES = 16


def test_the_key_is_what_steps_leave_as_it_is() -> None:
    """Two cells have all values, and steps change one of them: the other decides."""
    layout = make_layout(modular_counters(2, VALUES))
    first, second = [address for address, slot in enumerate(layout.slots) if slot.width]

    def pack(one: int, other: int) -> list[int]:
        state = [slot.base for slot in layout.slots]
        state[first], state[second] = one, other
        return list(layout.pack(tuple(state)))

    pairs = list(product(range(VALUES), repeat=2))
    states = np.array([pack(one, other) for one, other in pairs], np.uint64)
    targets = np.array([pack((one + 1) % VALUES, other) for one, other in pairs], np.uint64)
    found = choose_placement(layout, Observed(states, states, targets), 2)
    slot = layout.slots[second]
    assert found.key == ((slot.word, slot.mask << slot.shift),)
    owners = found.find_owners(states)
    assert (owners == found.find_owners(targets)).all()
    assert np.bincount(owners).tolist() == [VALUES * VALUES // 2] * 2


def test_frequent_hashes_are_dealt_out_first() -> None:
    assert deal_out([1, 5, 0, 3, 3], 2) == ((0, 0, 0, 1, 1), 6)
