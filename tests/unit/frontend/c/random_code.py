"""Random sequential C programs without undefined behaviour, which print a checksum.

Compiled with `-DRUN` a program prints its checksum; otherwise it asserts that the checksum is
`VALUE`.  Signed arithmetic wraps around (`-fwrapv`); divisors and shift counts are made valid.
"""

from __future__ import annotations

from random import Random

TYPES = (
    "char", "signed char", "unsigned char", "short", "unsigned short", "int", "unsigned",
    "long", "unsigned long", "long long", "unsigned long long", "_Bool",
)  # fmt: skip
HEAD = """
#ifdef RUN
#include <stdio.h>
#endif
#include <assert.h>
unsigned checksum;
static void mix(unsigned long long value) {
  checksum = (checksum ^ (unsigned)value ^ (unsigned)(value >> 32)) * 16777619u + 1;
}
"""


class _Code:
    def __init__(self, random: Random) -> None:
        self.random = random
        self.scalars: list[str] = []
        self.lines: list[str] = []
        self.names = 0

    def pick(self) -> str:
        return self.random.choice(self.scalars)

    def constant(self) -> str:
        value = self.random.choice((0, 1, 2, 7, 127, 128, 255, 256, 65535, 2**31 - 1, 2**32 - 1))
        suffix = self.random.choice(("", "u", "l", "ul", "ll", "ull"))
        sign = self.random.choice(("", "-", "~"))
        return f"({sign}{value}{suffix})"

    def value(self, depth: int) -> str:
        if depth == 0 or self.random.random() < 0.2:
            return self.pick() if self.random.random() < 0.7 else self.constant()
        left, right = self.value(depth - 1), self.value(depth - 1)
        kind = self.random.randrange(12)
        if kind < 5:
            return f"({left} {self.random.choice('+-*&|^')} {right})"
        if kind == 5:
            return f"({left} {self.random.choice('/%')} ({right} | 1 ? ({right} | 1) : 1))"
        if kind == 6:
            return f"({left} {self.random.choice(('<<', '>>'))} ({right} & 7))"
        if kind == 7:
            return f"({left} {self.random.choice(('<', '<=', '>', '>=', '==', '!='))} {right})"
        if kind == 8:
            return f"({left} {self.random.choice(('&&', '||'))} {right})"
        if kind == 9:
            return f"({left} ? {right} : {self.value(depth - 1)})"
        if kind == 10:
            return f"(({self.random.choice(TYPES)}){left})"
        return f"({self.random.choice(('-', '~', '!'))}{left})"

    def divisor_free(self, depth: int) -> str:
        return self.value(depth)

    def statement(self, depth: int) -> None:
        kind = self.random.randrange(10)
        target = self.pick()
        if kind < 3:
            self.lines.append(f"{target} = {self.value(2)};")
        elif kind == 3:
            operator = self.random.choice(("+=", "-=", "*=", "^=", "|=", "&="))
            self.lines.append(f"{target} {operator} {self.value(1)};")
        elif kind == 4:
            form = self.random.choice(("{0}++", "--{0}", "++{0}", "{0}--")).format(target)
            self.lines.append(f"mix({form});")
        elif kind == 5 and depth:
            self.lines.append(f"if ({self.value(1)}) {{")
            self.statement(depth - 1)
            self.lines.append("} else {")
            self.statement(depth - 1)
            self.lines.append("}")
        elif kind == 6 and depth:
            self.names += 1
            name = f"i{self.names}"
            self.lines.append(f"for (int {name} = 0; {name} < 3; {name}++) {{")
            self.statement(depth - 1)
            self.lines.append(f"mix({name} + a[{name}]); }}")
        elif kind == 7:
            self.lines.append(f"p = &a[{self.random.randrange(4)}]; *p = {self.value(1)};")
        elif kind == 8:
            self.lines.append(f"s.n = {self.value(1)}; t = s; q = &t; mix(q->n + q->in.c);")
        else:
            self.lines.append(
                f"switch ((int)({self.pick()} & 3)) {{ case 0: mix(1); case 1: "
                f"mix({self.pick()}); break; case 2 ... 3: mix(3); default: mix(9); }}"
            )


def random_program(random: Random, statements: int = 8) -> str:
    code = _Code(random)
    declared = []
    for number in range(5):
        type_ = random.choice(TYPES)
        name = f"v{number}"
        declared.append(f"  {type_} {name} = {code.constant()};")
        code.scalars.append(name)
    field = random.choice(TYPES[:-1])
    code.scalars += ["a[1]", "s.n", "s.in.c", "s.bits", "g"]
    element = random.choice(TYPES[:-1])
    for _ in range(statements):
        code.statement(2)
    body = "\n  ".join(code.lines)
    mixes = "\n  ".join(f"mix({name});" for name in code.scalars)
    return f"""{HEAD}
struct pair {{ {field} n; struct {{ unsigned char c; }} in; int bits : 5; }};
{random.choice(TYPES)} g = 3;
int main(void) {{
{chr(10).join(declared)}
  {element} a[4] = {{1, 2, 3, 4}}, *p = a;
  struct pair s = {{.n = 5, .in = {{6}}, .bits = 7}}, t = s, *q = &t;
  {body}
  {mixes}
  mix(*p); mix(q->n);
#ifdef RUN
  printf("%u\\n", checksum);
#else
  assert(checksum == VALUE);
#endif
  return 0;
}}
"""
