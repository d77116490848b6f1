"""Run the statements of a module, as far as their effect is known before the threads start.

Statements above the `threads` list run now if that can be foreseen.  From the first one that cannot
be on, statements wait for the thread `main`, and what they change is not known any more.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field

from mazurka.frontend.kit.builder import NotStatic
from mazurka.frontend.kit.shapes import NumberShape, Reference
from mazurka.frontend.python.lowering import Lowering, Model
from mazurka.frontend.python.module_level.beforehand import foresee
from mazurka.frontend.python.survey import count_stores, find_free_names
from mazurka.frontend.python.values.kinds import Number, Value
from mazurka.ir.expressions import Const
from mazurka.ir.program import Role


@dataclass(eq=False, slots=True)
class ModuleRun:
    """The module level of a model on its way from the first statement to the last."""

    model: Model
    low: Lowering = field(init=False)
    main: list[ast.stmt] = field(default_factory=list)
    """The statements that wait for `main`."""
    deferred: set[str] = field(default_factory=set)
    """Names that get their first value while the program runs."""
    carried: dict[str, Value] = field(default_factory=dict)
    """Variables of the module's own statements, with what they hold so far."""
    ranges: dict[str, NumberShape] = field(default_factory=dict)
    """The ranges that are declared for these variables."""
    rebound: set[str] = field(default_factory=set)
    """Shared numbers that foreseen statements have assigned again."""
    foreseeing: bool = False
    """Whether the statement stands above the `threads` list."""
    runs: int = 0
    """How often code of the module has been run beforehand."""

    def __post_init__(self) -> None:
        self.low = Lowering(self.model, 0, None, settled=True)

    @property
    def foreseen(self) -> int:
        """How often something was done that threads, if they ran already, could tell."""
        return self.runs + self.low.early

    def start_threads(self) -> None:
        """Note that threads run from now on, beside the statements that follow."""
        self.low.settled = False

    def execute(self, node: ast.stmt) -> None:
        """Run a statement now if that can be foreseen; else leave it to `main`."""
        if not (self.foreseeing and self.low.settled):
            self.defer(node)
            return
        stores = count_stores([node])
        carried = {name: self.carried[name] for name in stores if name in self.carried}
        found = foresee(
            self.model, [node], carried, node, lambda low: low.execute([node]), self.ranges
        )
        if found is None:
            self.defer(node)
            return
        self.runs += 1
        self.rebound |= stores.keys() & self.model.globals.keys()
        self.carried |= found.variables
        self.ranges |= found.ranges
        self.model.globals |= found.variables

    def evaluate(self, expr: ast.expr) -> Value | None:
        """Evaluate an expression of the module now; None if that cannot be foreseen."""
        return self.now(expr, lambda low: low.value(expr))

    def now(self, expr: ast.expr, action: Callable[[Lowering], Value]) -> Value | None:
        """Do something with an expression now; None if that cannot be foreseen."""
        value = self.statically(action)
        if value is not None:
            return value
        if not self.low.settled:
            return None
        found = foresee(self.model, [], {}, expr, action)
        if found is None:
            return None
        self.runs += 1
        return found.value

    def statically(self, action: Callable[[Lowering], Value]) -> Value | None:
        """Evaluate something without running any code; None if that takes steps."""
        held, plans = len(self.model.storage.cells), len(self.model.plans)
        try:
            return action(self.low)
        except NotStatic:
            del self.model.storage.cells[held:], self.model.plans[plans:]
            self.low.frames, self.low.overlay, self.low.direct = [], {}, None
            self.model.making.clear()
            return None

    def waits(self, expr: ast.expr) -> bool:
        """Whether an expression uses what only `main` will know."""
        return not self.deferred.isdisjoint(find_free_names(expr))

    def defer(self, node: ast.stmt) -> None:
        """Leave the statement to `main`."""
        for name in sorted(count_stores([node]).keys() & self.carried.keys()):
            value = self.carried.pop(name)
            if isinstance(value, Number) and value.constant is not None:
                number = bool(value.constant) if value.boolean else value.constant
                self.main.insert(0, self._write_assignment(name, number, node))
                del self.model.globals[name]
        self.main.append(node)
        self.low.settled = False
        self.deferred |= count_stores([node]).keys() - self.model.globals.keys()

    def _write_assignment(self, name: str, number: int, node: ast.stmt) -> ast.stmt:
        """An assignment to a variable, with its range if one is declared."""
        target, given = ast.Name(name, ast.Store()), ast.Constant(number)
        first: ast.stmt = ast.Assign([target], given)
        if name in self.ranges:
            annotation = ast.Name("int", ast.Load())
            self.model.ranges[id(annotation)] = self.ranges[name]
            first = ast.AnnAssign(target, annotation, given, 1)
        for part in ast.walk(first):
            if isinstance(part, ast.expr | ast.stmt):
                ast.copy_location(part, node)
        return first

    def freeze_numbers(self) -> dict[str, int]:
        """Make constants of numbers that nobody assigns once the threads have started."""
        frozen: dict[str, int] = {}
        later = count_stores(self.main)
        for name in self.rebound - self.model.survey.written - later.keys():
            match self.model.globals.get(name):
                case Reference(NumberShape(), Const(address)) if address not in self.model.declared:
                    draft = self.model.storage.cells[address]
                    number = Number(Const(draft.initial), draft.role is Role.BOOL)
                    self.model.globals[name] = number
                    frozen[name] = draft.initial
        return frozen
