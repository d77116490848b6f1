"""The variants of this engine's algorithms, and the options of strategies that choose among them.

Loaded to list the options, so it imports nothing that takes long.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from mazurka.analysis.laws import MoverUse
from mazurka.errors import OptionError
from mazurka.search import Option, require_positive
from mazurka.search.resources import refuse_many

# --- every interleaving -----------------------------------------------------------------------


class StoreKind(enum.StrEnum):
    """Where the visited states are kept."""

    MEMORY = "memory"
    DISK = "disk"
    """In sorted files; the search is breadth-first."""
    BITSTATE = "bitstate"
    """Nowhere: a state is a few bits of a table, and may be taken for another one."""


MOST_HASHES = 32


def refuse_hashes(number: int) -> None:
    require_positive("--hashes", number)
    if number > MOST_HASHES:
        raise OptionError(f"--hashes must be {MOST_HASHES} or less, not {number}")


STORE = Option(
    name="store",
    default=str(StoreKind.MEMORY),
    values=tuple(map(str, StoreKind)),
    help="Where visited states are kept: in memory, in files (breadth-first), or as bits, which"
    " may miss states and never says holds.",
    implies="full",
)
STORE_DIR = Option(
    name="store_dir",
    default="",
    help="With --store disk: the directory for the files; as usual, the one for temporary files.",
)
HASHES = Option(
    name="hashes",
    default=3,
    refuse=refuse_hashes,
    help="With --store bitstate: how many bits stand for a state.",
)


class DeviceKind(enum.StrEnum):
    """What searches."""

    CPU = "cpu"
    CUDA = "cuda"
    """An NVIDIA GPU; the search is breadth-first."""
    AUTO = "auto"
    """A GPU if there is one."""


DEVICE = Option(
    name="device",
    default=str(DeviceKind.CPU),
    values=tuple(map(str, DeviceKind)),
    help="What searches: this machine's processors, an NVIDIA GPU (breadth-first), or a GPU if"
    " there is one.",
    implies="full",
)

# --- transactions -----------------------------------------------------------------------------


class Completion(enum.IntEnum):
    """How the ignoring problem is answered: when a committed transaction is ended by force."""

    NONE = 0
    """Not at all (Fig. 5): unsound."""
    CYCLES = 1
    """Where a cycle closes."""
    COMMIT_POINTS = 2
    """At commit points that reach no end (Fig. 6 with L19)."""
    EVERY_STATE = 3
    """At every committed state that reaches no end (Fig. 6 without L19)."""


@dataclass(frozen=True, kw_only=True)
class Transaction:
    """How a strategy searches by transactions."""

    completion: Completion
    mover_use: MoverUse
    inner_loop: bool = False


MOVERS = Option(
    name="movers",
    default="inferred",
    values=("inferred", "static", "declared"),
    help="Where transactions learn what locks protect: from the search, from the program's text"
    " beforehand, or from the model's declarations.",
    ignorable=True,
)

# --- cartesian vectors ------------------------------------------------------------------------


class CycleRule(enum.StrEnum):
    """When a prefix that comes back to one of its own states is left off (marked as infinite)."""

    RETURN = "return"
    """Always."""
    LITERAL = "literal"
    """Fig. 6: not by its first step, and not by a step that collides with another's last one."""
    TABLE1 = "table1"
    """As the paper's Table 1 was made: as Fig. 6, but the state where the prefix begins and the one
    where it has got to are not looked at, so that a loop is gone round once more."""


class Finished(enum.StrEnum):
    """How a thread is treated that will never move again."""

    EXITS = "exits"
    """It has no transition, and its prefix is infinite as it is."""
    LOOPS = "loops"
    """It loops like a blocked thread, and its transitions are counted."""


def refuse_workers(number: int) -> None:
    require_positive("--workers", number)
    refuse_many("--workers", number)


CYCLE_RULE = Option(
    name="cycle_rule",
    default="return",
    values=tuple(map(str, CycleRule)),
    help="Cartesian vectors: when a thread's prefix counts as infinite.",
)
WORKERS = Option(
    name="workers",
    default=1,
    refuse=refuse_workers,
    help="Threads that search together, each on a processor of its own (full, cartesian; with"
    " --proviso sticky stubborn, lock-patterns, ample).",
    ignorable=True,
)

# --- persistent sets --------------------------------------------------------------------------


class Relation(enum.StrEnum):
    """Which threads a step is taken to be in conflict with."""

    STATIC = "static"
    """Algo 2: all that might interfere on some path of their code."""
    LOCK_PATTERNS = "lock-patterns"
    """Algo 3: on a path that needs none of the locks the thread holds."""
    AMPLE = "ample"
    """All or none, by location."""


class Proviso(enum.StrEnum):
    """What keeps a thread from being ignored for ever."""

    STACK = "stack"
    STICKY = "sticky"


PROVISO = Option(
    name="proviso",
    default="stack",
    values=tuple(map(str, Proviso)),
    help="Persistent sets: what keeps a thread from being ignored for ever.",
)
