"""Shared by all tests: the engine is there before anything is measured or compared, and the
modules of a program that is explored are its own, not those of all other tests."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from itertools import chain
from pathlib import Path
from types import FunctionType, ModuleType

import pytest

import tests.plain_asserts  # noqa: F401 - before anything of Mazurka's is imported

# isort: split
from mazurka.extras import MODELS
from mazurka.runtime.exploring import plain_run, unseen
from mazurka.runtime.exploring.options import ExploreOptions
from mazurka.runtime.program import existing, program
from mazurka.runtime.rewrite.live_functions import Group, Space, live_functions
from mazurka.search import Silent, resources
from mazurka.stateful import auto
from mazurka.stateless.explored import Allowance
from tests.limits import ENOUGH

TESTS = Path(__file__).parent
COLLECTED: dict[str, ModuleType] = {}
UNUSED = frozenset(
    {
        *("hypothesis", "jsonschema", "referencing", "execnet", "xdist", "pygments"),
        *("llvmlite", "numba", "numpy", "rich", "click", "yaml", "dd", "networkx"),
        *("idna", "iniconfig", "jsonschema_specifications"),
        *("rpds", "sortedcontainers", "_hypothesis_pytestplugin"),
    }
)
"""Packages of which no program that tests explore runs anything."""


@cache
def is_unused(module: object) -> bool:
    """Whether a module belongs to such a package, or is one that Hypothesis has made."""
    package = module.partition(".")[0] if type(module) is str else ""
    return package in UNUSED or package.startswith("hypothesis_temporary_module_")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """Give each process tests that follow each other, as they share what they prepare; one that
    has nothing left takes some of another's."""
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log)


PROCESSORS = resources.processors()


def pytest_configure(config: pytest.Config) -> None:
    """Give each process of `-n` a processor core of its own, while there are enough.

    An exploration stays on one core.  If another process is on that core, too, each change of
    threads waits until the system takes the turn from that one."""
    worker, count = (os.environ.get(f"PYTEST_XDIST_WORKER{end}", "") for end in ("", "_COUNT"))
    if worker.startswith("gw") and hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        if int(count) <= len(cores):
            number = int(
                worker.removeprefix("gw")
            )  # one that has died is followed by a further one
            os.sched_setaffinity(0, {cores[number % len(cores)]})


@pytest.fixture(scope="session", autouse=True)
def known_processors() -> Iterator[None]:
    """Let `auto` race as many searches as the machine has cores, whatever this process has."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(auto, "processors", lambda: PROCESSORS)
        yield


@pytest.fixture(autouse=True)
def nothing_unseen(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let explorations tell what the search itself finds, unless a test is about what it may not
    see: mutants lose failures, and runs take time."""
    with pytest.MonkeyPatch.context() as patch:
        if request.node.get_closest_marker("unseen") is None:
            patch.setattr(unseen, "MOST_RUNS", 0)
        yield


@pytest.fixture(scope="session", autouse=True)
def no_plain_runs() -> Iterator[None]:
    """Make no run without Mazurka of a test that fails in its first execution: it forks this large
    process, and only a note in the report depends on it.  Tests of that note set `LONGEST`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plain_run, "LONGEST", 0.0)
        yield


@pytest.fixture(autouse=True)
def no_usual_limits(request: pytest.FixtureRequest) -> Iterator[None]:
    """Give explorations for which a test sets no limit more time than users have, so that no
    verdict depends on the machine, unless the test is about the usual limits."""
    usual = ExploreOptions.find_allowance

    def find_more(self: ExploreOptions) -> Allowance | None:
        found = usual(self)
        return found and Allowance(found.processor + ENOUGH, found.world + ENOUGH)

    with pytest.MonkeyPatch.context() as patch:
        if request.node.get_closest_marker("usual_limits") is None:
            patch.setattr(ExploreOptions, "find_allowance", find_more)
        yield


def pytest_sessionstart(session: pytest.Session) -> None:
    """Compile the kernels before any test, so that none sees the message about it on stderr.

    With `-n` this happens before the other processes begin: they find what they would otherwise
    all compile at the same time.  Without the extra for models there are none: tests of real
    threads need none."""
    if MODELS.is_installed and not session.config.option.collectonly:
        from mazurka.compiled.cache import KERNELS, kernel

        for name in chain.from_iterable(KERNELS.values()):
            kernel(name, Silent())


@pytest.fixture(scope="session", autouse=True)
def light_children(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Let processes that tests start import quickly.

    They find the plugins in `tests/children`, and write no annotations for GitHub.  Where the
    environment forbids Python to keep compiled modules, the children keep theirs in the directory
    of this session, which all processes of `-n` share: Python puts whole files there."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(TESTS / "children"), prepend=os.pathsep)
        patch.delenv("GITHUB_ACTIONS", raising=False)
        if sys.dont_write_bytecode:
            patch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
            base = tmp_path_factory.getbasetemp()
            shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
            patch.setenv("PYTHONPYCACHEPREFIX", str(shared / "compiled"))
        yield


@pytest.fixture(scope="module", autouse=True)
def light_sessions(request: pytest.FixtureRequest, light_children: None) -> Iterator[None]:
    """Let sessions of pytest that tests start be quick.

    Each does without Hypothesis, which takes longer to import than most of these tests take to
    run, gives explorations time (`no_usual_limits`), and makes no runs beside the search
    (`tests/children`), unless the module of the test has the mark `unseen`: those take as long as
    most of these searches."""
    options = "-p no:hypothesispytest -p patient"
    if request.node.get_closest_marker("unseen") is None:
        options += " -p search_alone"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTEST_ADDOPTS", options)
        yield


@pytest.fixture(scope="session", autouse=True)
def known_memory() -> Iterator[None]:
    """Ask the system once how much memory there is, not in each of many thousand searches."""
    available = resources.available_bytes()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(resources, "available_bytes", lambda: available)
        yield


@pytest.fixture(scope="session")
def compile_once() -> Callable[[str, int], object] | None:
    """Compile each step function once; None without the extra for models."""
    if not MODELS.is_installed:
        return None
    from mazurka.ir.native import machine_code

    compile_assembly = machine_code.compile_assembly
    return lru_cache(maxsize=256)(lambda text, speed: compile_assembly(text, speed=speed))


@pytest.fixture(scope="module", autouse=True)
def native_code(
    request: pytest.FixtureRequest, compile_once: Callable[[str, int], object] | None
) -> Iterator[None]:
    """Compile the step function of a program once for all tests, and do not optimize it.

    Optimizing takes longer than searching what tests search.  Tests that are about the code itself
    are marked `optimized`: they have it as users do."""
    if compile_once is None:
        yield
        return
    from mazurka.ir.native import machine_code

    optimized = request.node.get_closest_marker("optimized") is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            machine_code,
            "compile_assembly",
            lambda text, speed: compile_once(text, speed if optimized else 0),
        )
        yield


def pytest_collection_finish(session: pytest.Session) -> None:
    """Take the modules of tests out of `sys.modules`, where explorations look for the program.

    They would instrument and search all of them anew for each of the many small programs.  From
    here on garbage is collected more rarely: it took a tenth of the time."""
    gc.set_threshold(20_000, 20, 20)
    for name, module in list(sys.modules.items()):
        if TESTS in _file(module).parents and not hasattr(module, "__path__"):
            COLLECTED[name] = sys.modules.pop(name)
    sys.meta_path.insert(0, CollectedFinder())


def _file(module: ModuleType) -> Path:
    return Path(getattr(module, "__file__", None) or "")


class CollectedFinder(MetaPathFinder, Loader):
    """Imports a module of the tests that is there already, and has only been taken out."""

    def find_spec(self, name: str, path: object, target: object = None) -> ModuleSpec | None:
        return ModuleSpec(name, self) if name in COLLECTED else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        self._kept = COLLECTED[spec.name].__spec__
        return COLLECTED[spec.name]

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._kept


def _used_by(module: ModuleType) -> dict[str, ModuleType]:
    """The module and those of the tests that it has got names from, and they in turn."""
    found = {module.__name__: module}
    waiting = [module]
    while waiting:
        for value in list(vars(waiting.pop()).values()):
            name = _home(value)
            if name in COLLECTED and name not in found:
                found[name] = COLLECTED[name]
                waiting.append(COLLECTED[name])
    return found


def _home(value: object) -> str | None:
    """The name of the module that something is, or comes from.

    Some objects of tests fail when they are asked for anything, so only their types are."""
    kind = type(value)
    if kind is ModuleType:
        return value.__name__
    owner = value if kind is type or kind is FunctionType else kind
    return owner.__module__ if type(owner) is type or type(owner) is FunctionType else None


@pytest.fixture(scope="module", autouse=True)
def present_module(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """The module of the test that runs is there with those it uses, until the next one's; and so
    are modules that its tests have written and imported."""
    sys.modules.update(_used_by(request.module))
    yield
    for name in list(sys.modules):
        if name in COLLECTED or _is_within(sys.modules[name], tmp_path_factory):
            del sys.modules[name]


def _is_within(module: ModuleType, temporary: pytest.TempPathFactory) -> bool:
    """Whether a test has written the module.  Texts are compared: this is asked of every module
    there is, after each module of tests, and parents of paths take 50 times as long."""
    file = getattr(module, "__file__", None)
    return type(file) is str and file.startswith(f"{temporary.getbasetemp()}{os.sep}")


@pytest.fixture(autouse=True)
def written_modules(
    present_module: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """A module that a test has written and imported goes with it: the explorations of hundreds of
    tests would each go through the modules of all tests before."""
    before = set(sys.modules)
    yield
    for name in sys.modules.keys() - before:
        if _is_within(sys.modules[name], tmp_path_factory):
            del sys.modules[name]


@pytest.fixture(scope="session", autouse=True)
def present_functions() -> Iterator[None]:
    """Let explorations set traps in the functions of modules that are there (`present_module`).

    Nobody calls the thousands of functions of other tests, nor those of packages that only tests
    and Mazurka use, and each would get a trap, and lose it, in each exploration.  Nor are names for
    locks and threads looked for there.  Classes of networkx have dozens of locks, for which all of
    the package was searched in each exploration."""
    by_namespace = live_functions.by_namespace
    is_exempt, is_left_out = program._is_exempt, existing._is_left_out

    @cache
    def is_out_of_reach(name: str) -> bool:
        return is_unused(name) or is_exempt(name)

    @cache
    def is_left_alone(name: str) -> bool:
        return is_unused(name) or is_left_out(name)

    def find_present() -> Iterator[tuple[Space, Group]]:
        for space, group in by_namespace():
            name = space.get("__name__")
            if not is_unused(name) and (name not in COLLECTED or name in sys.modules):
                yield space, group

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(live_functions, "by_namespace", find_present)
        patch.setattr(program, "_is_exempt", is_out_of_reach)
        patch.setattr(existing, "_is_left_out", is_left_alone)
        yield


@pytest.fixture
def every_test_module(monkeypatch: pytest.MonkeyPatch) -> dict[str, ModuleType]:
    """All modules of tests, as if one large program consisted of them."""
    for name, module in COLLECTED.items():
        monkeypatch.setitem(sys.modules, name, module)
    return COLLECTED
