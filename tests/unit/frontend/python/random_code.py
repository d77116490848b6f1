"""Random sequential Python code within the model language.

All of it is ordinary Python as well, so running it for real says what a model of it must do.
Assigned values are kept small with `% 7`, and loops are bounded.
"""

from __future__ import annotations

from random import Random

GLOBALS = ("g", "h")
LOCALS = ("a", "b", "c")


class CodeWriter:
    """Writes one module: shared numbers, an array, helper functions, and the function `run`."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.loops = 0
        self.helpers = 0
        self.finishing = 0
        """How many `finally` parts surround the code: they cannot be left by `return`."""
        self.lines: list[str] = []

    def module(self) -> str:
        self.lines = ["g: Int[-9, 9] = 1", "h: Int[-9, 9] = 2", "arr = Array(Int[-9, 9], 3)"]
        for number in range(2):
            self._function(f"helper{number}", "p, q=3", number)
        self._function("run", "", 2)
        return "\n".join([*self.lines, "threads = [run()]", ""])

    def module_statements(self) -> str:
        """The same statements at module level, before a thread that reads what they leave."""
        self.lines = ["g: Int[-9, 9] = 1", "h: Int[-9, 9] = 2", "arr = Array(Int[-9, 9], 3)"]
        for number in range(2):
            self._function(f"helper{number}", "p, q=3", number)
        self.helpers, self.finishing = 2, 1
        for local in LOCALS:
            self._emit(0, f"{local} = {self.random.randint(-3, 5)}")
        for _ in range(self.random.randint(3, 6)):
            self._statement(0, 2, in_loop=False)
            if self.random.random() < 0.3:
                self._call(0)
        self.lines += ["def run():", "    return a + b + c + g + h + arr[0]"]
        return "\n".join([*self.lines, "threads = [run()]", ""])

    def _function(self, name: str, parameters: str, helpers: int) -> None:
        self.helpers = helpers
        self.lines.append(f"def {name}({parameters}):")
        self.lines.append("    global g, h")
        for local in LOCALS:
            self._emit(1, f"{local}: Int[-999, 999] = {self.random.randint(-3, 5)}")
        if parameters:
            self.lines.append("    c = p - q")
        for _ in range(self.random.randint(2, 4)):
            self._statement(1, 2, in_loop=False)
        for _ in range(helpers):
            self._call(1)
        self.lines.append(f"    return ({self._number(2)}) % 7")

    def _emit(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def _block(self, depth: int, budget: int, *, in_loop: bool) -> None:
        for _ in range(self.random.randint(1, 2)):
            self._statement(depth, budget, in_loop=in_loop)

    def _statement(self, depth: int, budget: int, *, in_loop: bool) -> None:
        simple = [self._assign, self._assign, self._augmented, self._swap, self._store]
        if in_loop:
            simple.append(self._jump)
        if budget and self.random.random() < 0.45:
            compound = self.random.choice(
                [self._if, self._for, self._while, self._for_list, self._try, self._for_pairs]
            )
            compound(depth, budget - 1, in_loop)
        else:
            self.random.choice(simple)(depth)

    def _call(self, depth: int) -> None:
        name = f"helper{self.random.randrange(self.helpers)}"
        x, y = self._number(1), self._number(1)
        call = self.random.choice([f"{name}({x})", f"{name}({x}, {y})", f"{name}(q={x}, p=2)"])
        self._emit(depth, f"{self._target()} = ({self._atom()} + {call}) % 7")

    def _target(self) -> str:
        return self.random.choice(LOCALS + GLOBALS)

    def _assign(self, depth: int) -> None:
        self._emit(depth, f"{self._target()} = ({self._number(3)}) % 7")

    def _augmented(self, depth: int) -> None:
        operator = self.random.choice(["%", "//"])
        self._emit(depth, f"{self._target()} {operator}= ({self._number(2)}) % 5 + 1")

    def _swap(self, depth: int) -> None:
        first, second = self.random.sample(LOCALS + GLOBALS, 2)
        self._emit(depth, f"{first}, {second} = {second} % 7, ({self._number(2)}) % 7")

    def _store(self, depth: int) -> None:
        operator = self.random.choice(["=", "=", "%="])
        value = f"({self._number(2)}) % 7" + (" + 1" if operator == "%=" else "")
        self._emit(depth, f"arr[{self._index()}] {operator} {value}")

    def _jump(self, depth: int) -> None:
        self._emit(depth, f"if {self._condition(1)}:")
        jumps = ["break", "continue"] + ["return a % 7"] * (not self.finishing)
        self._emit(depth + 1, self.random.choice(jumps))

    def _if(self, depth: int, budget: int, in_loop: bool) -> None:
        self._emit(depth, f"if {self._condition(2)}:")
        self._block(depth + 1, budget, in_loop=in_loop)
        if self.random.random() < 0.4:
            self._emit(depth, f"elif {self._condition(2)}:")
            self._block(depth + 1, budget, in_loop=in_loop)
        if self.random.random() < 0.5:
            self._emit(depth, "else:")
            self._block(depth + 1, budget, in_loop=in_loop)

    def _for(self, depth: int, budget: int, in_loop: bool) -> None:
        self.loops += 1
        ends = self.random.choice(
            ["3", "b % 4", "1, 4", "4, 0, -1", f"({self._number(1)}) % 4", "c % 3, 5, 2"]
        )
        name = self.random.choice([f"i{self.loops}", "a"])
        backwards = self.random.random() < 0.3 and not ends.endswith("5, 2")
        numbers = f"reversed(range({ends}))" if backwards else f"range({ends})"
        self._emit(depth, f"for {name} in {numbers}:")
        self._block(depth + 1, budget, in_loop=True)
        self._otherwise(depth, budget, in_loop)
        if ends in ("3", "1, 4", "4, 0, -1"):  # never empty: the variable has a value behind it
            self._emit(depth, f"c = (c + {name}) % 7")

    def _for_list(self, depth: int, budget: int, in_loop: bool) -> None:
        self.loops += 1
        items = self.random.choice(["arr", "(a, 2, b)", "[1, c]"])
        self._emit(depth, f"for i{self.loops} in {items}:")
        self._emit(depth + 1, f"b = (b + i{self.loops}) % 7")
        self._block(depth + 1, budget, in_loop=True)
        self._otherwise(depth, budget, in_loop)

    def _for_pairs(self, depth: int, budget: int, in_loop: bool) -> None:
        self.loops += 1
        x, y = f"x{self.loops}", f"y{self.loops}"
        pairs = self.random.choice(
            [
                "enumerate(arr)",
                "enumerate((a, b), 1)",
                "zip(arr, (c, 2, a))",
                "zip(reversed(arr), arr)",
            ]
        )
        self._emit(depth, f"for {x}, {y} in {pairs}:")
        self._emit(depth + 1, f"a = (a + {x} * {y}) % 7")
        self._block(depth + 1, budget, in_loop=True)
        self._otherwise(depth, budget, in_loop)

    def _try(self, depth: int, budget: int, in_loop: bool) -> None:
        self.loops += 1
        left = f"f{self.loops}"
        self._emit(depth, "try:")
        self._block(depth + 1, budget, in_loop=in_loop)
        if self.random.random() < 0.3 and not self.finishing:
            self._emit(depth + 1, f"if {self._condition(1)}:")
            self._emit(depth + 2, f"return ({self._number(1)}) % 7")
        self._emit(depth, "finally:")
        self._emit(depth + 1, f"{left} = ({self._number(1)}) % 7")
        self.finishing += 1
        self._block(depth + 1, budget, in_loop=False)
        self.finishing -= 1
        self._emit(depth, f"{self._target()} = {left}")

    def _while(self, depth: int, budget: int, in_loop: bool) -> None:
        self.loops += 1
        counter = f"w{self.loops}"
        self._emit(depth, f"{counter} = 0")
        self._emit(depth, f"while {counter} < 3 and ({self._condition(2)}):")
        self._emit(depth + 1, f"{counter} = {counter} + 1")
        self._block(depth + 1, budget, in_loop=True)
        self._otherwise(depth, budget, in_loop)

    def _otherwise(self, depth: int, budget: int, in_loop: bool) -> None:
        if self.random.random() < 0.4:
            self._emit(depth, "else:")
            self._block(depth + 1, budget, in_loop=in_loop)

    def _index(self) -> str:
        number = self._number(1)
        return self.random.choice([f"({number}) % 3", f"({number}) % 3 - 3", "0", "-1"])

    def _atom(self) -> str:
        names = LOCALS + GLOBALS
        return self.random.choice([*names, *names, "0", "1", "-2", "5", f"arr[{self._flat()}]"])

    def _flat(self) -> str:
        return self.random.choice(["0", "1", "-1", "a % 3", "g % 3 - 3"])

    def _number(self, depth: int) -> str:
        if depth == 0:
            return self._atom()
        x, y = self._number(depth - 1), self._number(depth - 1)
        forms = [
            f"({x} + {y})", f"({x} - {y})", f"({x} % 5) * ({y} % 5)", f"{x} // (({y}) % 3 + 1)",
            f"({x}) % (({y}) % 3 - 4)", f"min({x}, {y})", f"max({x}, {y}, 1)", f"abs({x})",
            f"({x} if {self._condition(depth - 1)} else {y})", f"({x} and {y})", f"({x} or {y})",
            f"(({x}) & 7 | ({y}) ^ 3)", f"(~({x}) >> 1)", f"(({x}) % 4 << 1)", f"-({x})",
            f"int({self._condition(depth - 1)})", f"sum(v * {x} % 5 for v in arr) % 9",
            f"sum(1 for v in arr if v > {y})", f"max(v % 4 for v in (a, {x}))", "sum(arr) % 7",
        ]  # fmt: skip
        return self.random.choice(forms)

    def _condition(self, depth: int) -> str:
        comparison = self.random.choice(["<", "<=", "==", "!=", ">", ">="])
        x, y = self._number(max(depth - 1, 0)), self._number(max(depth - 1, 0))
        if depth == 0:
            return f"{x} {comparison} {y}"
        first, second = self._condition(depth - 1), self._condition(depth - 1)
        return self.random.choice(
            [
                f"{x} {comparison} {y}", f"{x} {comparison} {y}", f"{x} < {y} <= 4",
                f"({first}) and ({second})", f"({first}) or ({second})", f"not ({first})",
                f"({x}) in (1, 2, 3)", f"({first}) and {x}", f"({x}) in range(-1, 4)",
                f"any(v == {x} for v in arr)", f"all(v < {y} for v in (a, {x}) if v)",
                "any(arr)", "all((a, b))",
            ]
        )  # fmt: skip
