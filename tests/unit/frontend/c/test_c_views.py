"""Memory that is accessed as another type than it was written: never a violation, never guessed."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.frontend.c.test_c_verdicts import verdict

HEAD = """
#include <stdarg.h>
#include <string.h>
struct letters { char c[4]; };
struct two { char a[2]; char b[2]; };
struct mixed { char c[4]; int i; };
struct pair { char a, b; };
struct head { int kind; };
struct body { struct head h; int value; };
union pointers { int *number; char *bytes; };
int number = 0x104, numbers[4] = {0x104, 2, 3, 4};
struct mixed mixed = {{1, 2, 3, 4}, 5};
char *kept;
static int sum(const char *p, int n) { int s = 0; for (int i = 0; i < n; i++) s += p[i]; return s; }
static int last(int n, ...) {
  va_list all; va_start(all, n); char *c = va_arg(all, char *); int r = *c; va_end(all); return r;
}
"""

UNDECIDED = [
    "int *p = &number; char *c = (char *)p; assert(*c == 4);",
    "int *p = &number; char *c = (char *)p; c++; assert(*c == 1);",
    "int x = 1; char *c = (char *)&x, *end = (char *)(&x + 1); int s = 0;"
    " while (c < end) s += *c++; assert(s == 1);",
    "const unsigned char *c = (const unsigned char *)&number, *end = c + sizeof number;"
    " int s = 0; while (c != end) s += *c++; assert(s == 5);",
    "void *v = &number; char *c = v; c++; assert(*c == 1);",
    "char *c = (char *)&number; c[1] = 0; assert(number == 4);",
    "unsigned char *c = (unsigned char *)&number; for (int i = 0; i < 4; i++) c[i] = 0;"
    " assert(number == 0);",
    "assert(((char *)numbers)[4] == 2);",
    "char *c = (char *)numbers; int *p = (int *)(c + 8); c += 8; assert(*(int *)c == 3);",
    "assert(sum((char *)&mixed, sizeof mixed) == 15);",
    "kept = (char *)&mixed; int s = 0; for (int i = 0; i < 8; i++) s += kept[i]; assert(s == 15);",
    "char *c = (char *)&mixed; assert(c[4] == 5);",
    "char *c = (char *)&mixed; assert(*&c[4] == 5);",
    "char *c = (char *)&mixed; for (int i = 0; i < 5; i++) c++; assert(*c == 0);",
    "struct two t = {{1, 2}, {3, 4}}; int s = 0;"
    " for (char *c = (char *)&t; c < (char *)(&t + 1); c++) s += *c; assert(s == 10);",
    "int *p = &number; char **q = (char **)&p; assert(**q == 4);",
    "union pointers u; u.number = &number; assert(*u.bytes == 4);",
    "int *p = &number; char *c; memcpy(&c, &p, sizeof c); assert(*c == 4);",
    "assert(last(1, (void *)&number) == 4);",
    "char *e = (char *)(&number + 1), *b = (char *)&number; assert(e - b == 4);",
    "char *p = (char *)&number; char *q = p + 1; q -= 1; assert(*(int *)q == 0x104);",
    "char *c = x ? 0 : (char *)&number + 1; assert(*c == 1);",
    "int *p = malloc(8); char *c = (char *)p; c[0] = 1; assert(p[0] >= 0); free(p);",
    "char *m = malloc(8); struct head *h = (struct head *)(m + 4); h->kind = 1;",
    "struct mixed *s = malloc(sizeof *s); char *c = (char *)s; free(c + 4);",
    "long l = 1; int *p = (int *)&l; assert(*p == 1);",
    "struct body b = {{1}, 2}; struct head *h = (struct head *)&b; h++; assert(h);",
]


@pytest.mark.parametrize("code", UNDECIDED)
def test_bytes_of_another_object_are_undecided(code: str, tmp_path: Path) -> None:
    assert verdict(f"{HEAD}int main(void) {{ {code} }}", tmp_path)[0] == "inconclusive"


@pytest.mark.parametrize(
    "code",
    [
        "struct letters s = {{1, 2, 3, 4}}; char *c = (char *)&s; assert(c[1] == 2);",
        "struct letters s = {{1, 2, 3, 4}}; char *c = (char *)&s; assert(*&c[2] == 3);",
        "struct letters s = {{1, 2, 3, 4}}; assert(sum((char *)&s, 4) == 10);",
        "struct pair s = {1, 2}; char *c = (char *)&s; c[1] = 3; assert(s.a == 1 && s.b == 3);",
        "struct body b = {{1}, 2}; struct head *h = (struct head *)&b;"
        " assert(h->kind == 1 && ((struct body *)h)->value == 2);",
        "unsigned u = -1; int *p = (int *)&u; *p = -2; assert(u == 0xfffffffe);",
        "char *m = malloc(4); unsigned char *u = (unsigned char *)m; u[3] = 255;"
        " assert(m[3] == -1); free(u);",
        "int *p = malloc(sizeof *p); char *c = (char *)p; *p = 1; free(c);",
        "char *c = (char *)&number; int *p = (int *)c; assert(*p == 0x104);",
    ],
)
def test_views_that_are_modelled(code: str, tmp_path: Path) -> None:
    assert verdict(f"{HEAD}int main(void) {{ {code} }}", tmp_path)[0] == "holds"


@pytest.mark.parametrize(
    "code",
    [
        "char b[4]; char *c = b; c += 5;",
        "char b[4] = {0}; char *c = b; for (int i = 0; i < 5; i++) x += c[i];",
        "char b[4] = {0}; kept = (char *)&number; kept = b; kept += 4; assert(*kept == 0);",
        "int *p = numbers; p += 4; assert(*p == 0);",
        "struct head *h = 0; void *v = h; assert(((struct head *)v)->kind);",
        "char *m = malloc(4); free(m); assert(*m);",
        "mixed.i = numbers[x + 3]; char *c = mixed.c; c += 9;",
    ],
)
def test_memory_that_is_left_stays_a_violation(code: str, tmp_path: Path) -> None:
    assert verdict(f"{HEAD}int main(void) {{ {code} }}", tmp_path) == ("violated", "memory")


def test_only_executions_that_read_bytes_are_undecided(tmp_path: Path) -> None:
    """A violation that some execution reaches without doing so is found."""
    code = """
    extern int __VERIFIER_nondet_int(void);
    int main(void) {
      char *c = (char *)&number;
      if (__VERIFIER_nondet_int()) c++;
      else assert(number == 1);
    }
    """
    assert verdict(HEAD + code, tmp_path) == ("violated", "assert")


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("memcpy(numbers + 1, numbers, 3 * sizeof(int));", ("violated", "memory")),
        ("int *p = x ? 0 : numbers; memcpy(p, p + 1, 2 * sizeof(int));", ("violated", "memory")),
        ("memcpy(numbers + 2, numbers, 2 * sizeof(int)); assert(numbers[3] == 2);", ("holds", "")),
        ("memmove(numbers + 1, numbers, 3 * sizeof(int)); assert(numbers[3] == 3);", ("holds", "")),
        ("int *p = x ? 0 : numbers; memmove(p + 1, p, 3 * sizeof(int)); assert(p[3] == 3);",
         ("holds", "")),
    ],
)  # fmt: skip
def test_memcpy_of_objects_that_overlap(
    code: str, expected: tuple[str, str], tmp_path: Path
) -> None:
    assert verdict(f"{HEAD}int main(void) {{ {code} }}", tmp_path) == expected


def test_what_limits_list_is_accepted(tmp_path: Path) -> None:
    """Writing a `const` object, a leak, an inner array that a pointer leaves, a second reader."""
    code = """
    const int fixed = 1;
    int rows[2][3];
    pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
    void *write_it(void *p) {
      pthread_rwlock_wrlock(&lock); pthread_rwlock_unlock(&lock); return 0;
    }
    int main(void) {
      pthread_t t;
      *(int *)&fixed = 2;
      int *row = rows[0];
      row[3] = 1;
      assert(rows[1][0] == 1);
      row = malloc(4);
      pthread_create(&t, 0, write_it, 0);
      pthread_rwlock_rdlock(&lock);
      pthread_rwlock_rdlock(&lock);
      pthread_rwlock_unlock(&lock);
      pthread_rwlock_unlock(&lock);
      pthread_join(t, 0);
    }
    """
    assert verdict(HEAD + code, tmp_path) == ("holds", "")


def test_an_inner_array_ends_for_its_name(tmp_path: Path) -> None:
    code = "int main(void) { int rows[2][3] = {0}; assert(rows[0][x + 3] == 0); }"
    assert verdict(HEAD + code, tmp_path) == ("violated", "index")
