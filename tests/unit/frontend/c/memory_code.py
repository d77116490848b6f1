"""Random C programs that allocate, free and follow pointers, rightly or not."""

from __future__ import annotations

from random import Random

NAMES = ("p", "sum", "two", "fixed", "main")
"""What each program defines for all functions."""
HEAD = "#include <stdlib.h>\nint *p[3], sum, two = 2, fixed[3];\n"


def random_memory_use(random: Random) -> str:
    """A program of one thread; nothing in it is undefined but what it does with pointers."""
    return f"{HEAD}int main(void) {{ {' '.join(_statement(random) for _ in range(8))} return 0; }}"


def _statement(random: Random) -> str:
    one, other = (f"p[{random.randrange(3)}]" for _ in range(2))
    count, index = random.randrange(1, 5), random.randrange(-1, 5)
    length = f"{count}" if random.randrange(2) else f"(two + {count - 2})"
    fill = f"for (int i = 0; i < {length}; i++) {one}[i] = i;"
    where = f"{index}" if random.randrange(2) else f"two + {index - 2}"
    again = f"for (int i = 0; i < 2; i++) {{ {one} = malloc({count} * sizeof(int)); {fill} }}"
    return random.choice((
        f"{one} = malloc({length} * sizeof(int)); {fill}",
        f"{one} = calloc({length}, sizeof(int));",
        f"{one} = realloc({one}, {length} * sizeof(int)); {fill}",
        f"{other} = realloc({one}, {length} * sizeof(int)); {fill.replace(one, other)}",
        f"free({one});",
        f"free({one}); {one} = 0;",
        f"{one} = {other};",
        f"if ({one}) {one}[{where}] = {count};",
        f"if ({one}) sum += {one}[{where}];",
        f"if ({one}) free({one} + {random.randrange(2)});",
        f"{{ int here[3] = {{1, 2, 3}}; {one} = here; {one}[{where}]++; }}",
        f"{one} = &fixed[{count % 3 + 1}];",
        f"{one} = fixed + {count % 3 + 1};",
        again,
    ))  # fmt: skip
