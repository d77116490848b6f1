"""The options that strategies of the symbolic engine declare."""

from __future__ import annotations

from importlib.machinery import PathFinder
from importlib.util import find_spec

from mazurka.errors import OptionError
from mazurka.extras import BDD, MODELS, SYMBOLIC
from mazurka.search import Option, SearchOptions

INTERLEAVINGS = ("full", "partial-order", "transactions", "peephole", "sweeps")
"""As `mazurka.symbolic.circuit.Interleaving` has them; that module is loaded when needed."""
OF_STATES = ("full", "partial-order", "transactions", "sweeps")
"""Those whose transitions depend on the state alone, and remember nothing else."""


def require_solver() -> None:
    """Refuse to search where there is no solver."""
    MODELS.require("--engine symbolic needs NumPy and Numba, which are not installed")
    SYMBOLIC.require("--engine symbolic needs a SAT solver, which is not installed")


def has_diagrams() -> bool:
    """Return whether there is a package for decision diagrams that is fast: `dd` with CUDD.

    It is looked for without importing the package, which would take half a second."""
    package = find_spec("dd")
    if package is None:
        return False
    return PathFinder.find_spec("dd.cudd", package.submodule_search_locations) is not None


def require_diagrams() -> None:
    """Refuse to search where there is no package for decision diagrams."""
    MODELS.require("--strategy bdd needs NumPy and Numba, which are not installed")
    BDD.require(
        "--strategy bdd needs decision diagrams, which are not installed; --strategy pdr may prove"
        " the model, too"
    )


def require_interleaving_of_states(options: SearchOptions) -> None:
    """Refuse to look for sets of states by transitions that depend on more than the state."""
    asked = options.value(INTERLEAVING)
    if asked not in OF_STATES:
        raise OptionError(
            f"--interleaving {asked} is for bmc alone, since it depends on the step before:"
            f" invariants and diagrams are of states; there are {', '.join(OF_STATES)}"
        )


def require_some(flag: str, value: int) -> None:
    if value < 1:
        raise OptionError(f"{flag} must be 1 or more, not {value}")


INTERLEAVING = Option(
    name="interleaving",
    default="sweeps",
    values=INTERLEAVINGS,
    help="what one transition is: a step of one thread (any; one of a stubborn set; adjacent"
    " independent steps in one order), a transaction of one thread (one of a stubborn set with lock"
    " patterns runs on while nobody can interfere), or a round in which each thread in turn runs on"
    " as far as it likes",
)
ROUNDS = Option(
    name="rounds",
    default=100,
    help="how many transitions a bounded search looks ahead",
    refuse=lambda value: require_some("--rounds", value),
)
UNROLLED = Option(
    name="unrolling",
    default=32,
    help="how often the loops inside an atomic section are followed",
    refuse=lambda value: require_some("--unrolling", value),
)
INVARIANT = Option(
    name="invariant",
    default="",
    help="where to write the inductive invariant that proves the model, in words",
    implies="pdr",
)
