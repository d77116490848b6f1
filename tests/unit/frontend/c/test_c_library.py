"""Functions of the library and of the compiler mean what they mean in compiled programs."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.unit.frontend.c.test_c_verdicts import verdict

import mazurka
from mazurka.checking import load_program
from mazurka.frontend.c import load_c, return_sites
from mazurka.ir.native.layout import make_layout
from mazurka.search.reading import Reading

pytest.importorskip("clang")

SEQUENTIAL = r"""
#include <assert.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct pair { int key; char tag; };
static int by_number(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static int by_key(const void *a, const void *b) {
  return ((const struct pair *)a)->key - ((const struct pair *)b)->key;
}
static int vsum(int n, va_list all) { int s = 0; while (n--) s += va_arg(all, int); return s; }
static int sum(int n, ...) {
  va_list all; va_start(all, n); int s = vsum(n, all); va_end(all); return s;
}
static long mix(const char *kinds, ...) {
  va_list all, copy; va_start(all, kinds); va_copy(copy, all);
  long r = va_arg(copy, int);
  for (; *kinds; kinds++) switch (*kinds) {
    case 'i': r = 10 * r + va_arg(all, int); break;
    case 'l': r = 10 * r + va_arg(all, long); break;
    case 's': r = 10 * r + va_arg(all, char *)[0]; break;
  }
  va_end(all); va_end(copy); return r;
}
static int note(char *out, const char *format, ...) {
  va_list all; va_start(all, format); int n = vsnprintf(out, 6, format, all); va_end(all);
  return n;
}
#define kind(x) _Generic((x), int: 1, char *: 2, default: _Generic((x), long: 3, default: 4))
int table[6] = {[0 ... 2] = 7, [4] = 9};
struct { int a[3]; } rows[3] = {[0 ... 1].a[1 ... 2] = 5};
"""
CASES = {
    "bits": "unsigned v = 0x00f0f000u; unsigned long w = (unsigned long)v << 41;"
    "check(__builtin_popcount(v) == 8 && __builtin_popcountl(w) == 7 && __builtin_parityl(w));"
    "check(__builtin_ctz(v) == 12 && __builtin_clz(v) == 8 && __builtin_clzll(w) == 0);"
    "check(__builtin_ffs(0) == 0 && __builtin_ffsl(w) == 54 && __builtin_ctzl(w) == 53);"
    "check(__builtin_bswap32(v) == 0x00f0f000u && __builtin_bswap16(0x1234) == 0x3412);"
    "check(__builtin_bswap64(w) == 0xe0e1ul);",
    "overflow": "int r; unsigned q; long l; unsigned long u; unsigned char c; int m = INT_MAX;"
    "check(__builtin_add_overflow(m, 1, &r) && r == INT_MIN);"
    "check(!__builtin_sub_overflow(m, 1, &r) && r == m - 1);"
    "check(__builtin_mul_overflow(3000000000u, 2, &q) && !__builtin_mul_overflow(m, m, &l));"
    "check(__builtin_sub_overflow(1u, 2u, &u) && __builtin_add_overflow(255, 1, &c) && c == 0);"
    "check(__builtin_saddl_overflow(LONG_MAX, (long)m, &l) && l < 0);"
    "check(__builtin_smull_overflow(-1L, LONG_MIN, &l) && !__builtin_smull_overflow(0, 5, &l));"
    "check(__builtin_umull_overflow(1ul << 63, 2, &u) && u == 0);",
    "selection": "int x = 1; long y = 2; check(kind(x) == 1 && kind(y) == 3 && kind(0u) == 4);"
    'check(kind("a") == 2 && _Generic(y, int: by_number, long: by_key) == by_key);'
    'check(__builtin_choose_expr(__builtin_types_compatible_p(int, int), x, "") == 1);'
    "check(table[2] == 7 && table[3] == 0 && table[4] == 9 && rows[1].a[2] == 5);"
    'check(rows[1].a[0] == 0 && rows[2].a[1] == 0 && !strcmp(__func__, "main"));',
    "arguments": 'check(sum(3, 1, 2, 40) == 43 && mix("ils", 1, 2L, "A") == 1185);'
    'char t[8]; check(note(t, "%s:%c", "xyz", 65) == 5 && !strcmp(t, "xyz:A"));',
    "elements": "int a[4] = {3, -1, 9, 0}, b[4]; volatile size_t n = 4;"
    "qsort(a, n, sizeof a[0], by_number); check(a[0] == -1 && a[2] == 3 && a[3] == 9);"
    "struct pair p[3] = {{3, 1}, {1, 2}, {2, 3}}; qsort(p, 3, sizeof *p, by_key);"
    "check(p[0].tag == 2 && p[2].tag == 1); int k = 9;"
    "check(bsearch(&k, a, n, sizeof k, by_number) == a + 3);"
    "memcpy(b, a, n * sizeof *a); memmove(b + 1, b, (n - 1) * sizeof *b);"
    "check(b[0] == -1 && b[1] == -1 && b[3] == 3); int u = 256, v = 1;"
    'check(memcmp(&u, &v, sizeof u) < 0 && memcmp("ab", "aa", n - 2) > 0);',
    "formats": 'char t[9]; check(snprintf(t, 4, "%03d|%-2s", -4, "q") == 6 && !strcmp(t, "-04"));'
    'sprintf(t, "%X%c", 171, 90); check(!strcmp(t, "ABZ"));',
    "texts": 'char t[4] = ",ab"; check(strtok(t, ",") == t + 1 && strcspn("abc", "c") == 2);'
    'check(strpbrk("abc", "cb")[0] == 98 && div(-7, 2).rem == -1);',
    "heap": "int *g; posix_memalign((void **)&g, 16, 2 * sizeof *g); g[1] = 3; check(g[1] == 3);"
    "free(g); g = aligned_alloc(16, 16); g[3] = 1; check(g[3]); check(alloca(8) != 0);",
}


def test_compiled_programs_agree(tmp_path: Path) -> None:
    """What the cases below say holds, also when they are compiled and run."""
    parts = "".join(f"{{ {code} }}" for code in CASES.values())
    path = tmp_path / "all.c"
    path.write_text(f"#define check assert\n{SEQUENTIAL} int main(void) {{ {parts} return 0; }}")
    command = ["gcc", "-w", str(path), "-o", str(tmp_path / "all")]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"this cannot be compiled here: {error}")
    assert subprocess.run([str(tmp_path / "all")], check=False).returncode == 0


@pytest.mark.parametrize("name", CASES)
def test_value(name: str, tmp_path: Path) -> None:
    """Each case counts what holds, so that one that is not reached is noticed."""
    number = CASES[name].count("check(")
    text = f"int right;\n#define check(x) (right += !!(x))\n{SEQUENTIAL}"
    main = f"int main(void) {{ {CASES[name]} assert(right == {number}); return 0; }}"
    assert verdict(text + main, tmp_path) == ("holds", "")


FAULTS = {
    "int x = 0; return __builtin_ctz(x);": "exception",
    'char t[3]; sprintf(t, "%d", 123);': "memory",
    "va_list all; return sum(2, 1);": "memory",
    "int a[2] = {0}; volatile size_t n = 3; int b[3] = {0}; memcpy(a, b, n * sizeof *a);": "memory",
}


@pytest.mark.parametrize("code", FAULTS)
def test_fault(code: str, tmp_path: Path) -> None:
    text = f"{SEQUENTIAL} int main(void) {{ {code} return 0; }}"
    assert verdict(text, tmp_path) == ("violated", FAULTS[code])


def test_key_made_once(tmp_path: Path) -> None:
    text = """
static pthread_key_t key; static pthread_once_t once = PTHREAD_ONCE_INIT;
static void gone(void *p) { __sync_fetch_and_add(&x, (int)(long)p); }
static void make(void) { pthread_key_create(&key, gone); }
void *f(void *p) { pthread_once(&once, make); assert(pthread_getspecific(key) == 0);
                   pthread_setspecific(key, p); return 0; }
int main(void) { pthread_t a, b; pthread_create(&a, 0, f, (void *)1);
  pthread_create(&b, 0, f, (void *)2); pthread_join(a, 0); pthread_join(b, 0);
  assert(x == 3); return 0; }"""
    assert verdict(text, tmp_path) == ("holds", "")


def test_cleanup_runs_where_the_thread_ends(tmp_path: Path) -> None:
    text = """
static void leave(void *p) { x += 10; pthread_mutex_unlock(p); }
static void deep(void *p) { if (p) pthread_exit(p); }
void *f(void *p) { pthread_mutex_lock(&m); pthread_cleanup_push(leave, &m); deep(p);
                   pthread_cleanup_pop(0); x++; pthread_mutex_unlock(&m); return 0; }
int main(void) { pthread_t a, b; pthread_create(&a, 0, f, 0); pthread_create(&b, 0, f, &x);
  pthread_join(a, 0); pthread_join(b, 0); assert(x == 11); return 0; }"""
    assert verdict(text, tmp_path) == ("holds", "")


def test_functions_at_the_end_run_in_reverse_order(tmp_path: Path) -> None:
    text = """
static void first(void) { assert(x == 32); }
static void second(void) { x = x * 10 + 2; }
int main(int count, char **all) { atexit(first); atexit(second); x = 3; if (count > 1) exit(0);
  return 0; }"""
    assert verdict(text, tmp_path) == ("holds", "")
    assert verdict(text.replace("32", "31"), tmp_path) == ("violated", "assert")


def test_objects_have_names_of_their_own(tmp_path: Path) -> None:
    """Also where one place allocates them in different calls; a structure is no first member."""
    path = tmp_path / "nodes.c"
    path.write_text(
        "#include <assert.h>\n#include <stdlib.h>\n"
        "struct node { int v; struct node *next; } *top;\n"
        "void push(int v) { struct node *n = malloc(sizeof *n); n->v = v; n->next = top; top = n; }"
        "int main(void) { push(1); push(2); assert(top->next == 0); return 0; }"
    )
    found = mazurka.check(path, strategy="full")
    assert found.violation is not None
    assert "node@4#2.next is &node@4)" in found.violation.message


def test_objects_of_threads_have_their_names(tmp_path: Path) -> None:
    path = tmp_path / "nodes.c"
    path.write_text(
        "#include <assert.h>\n#include <pthread.h>\n#include <stdlib.h>\n"
        "struct node { int v; struct node *next; } *top;\n"
        "void *f(void *p) { top = malloc(sizeof *top); top->v = 1; return 0; }\n"
        "int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_join(t, 0);"
        " assert(top == 0); return 0; }"
    )
    found = mazurka.check(path, strategy="full")
    assert found.violation is not None
    assert "top is &f.node@5)" in found.violation.message


def test_what_runs_once_is_told_once(tmp_path: Path) -> None:
    path = tmp_path / "once.c"
    path.write_text(
        "#include <assert.h>\n#include <pthread.h>\n#include <stdbool.h>\n"
        "pthread_once_t o = PTHREAD_ONCE_INIT; bool made; void make(void) { made = true; }\n"
        "int main(void) { pthread_once(&o, make); pthread_once(&o, make); assert(!made); }"
    )
    trace = mazurka.check(path, strategy="full").trace
    assert trace is not None
    texts = [row.operation for row in trace.rows]
    assert texts.count("run make once") == 1
    assert "make has run already (o)" in texts
    assert trace.rows[-1].reads == {"made": 1}
    assert trace.rows[-1].reads["made"] is not True


INSERT = """
#include <stdlib.h>
struct node { int key; struct node *left, *right; } *root;
static struct node *insert(struct node *n, int key) {
  if (!n) { n = calloc(1, sizeof *n); n->key = key; }
  else if (key < n->key) n->left = insert(n->left, key); else n->right = insert(n->right, key);
  return n; }
int main(void) { for (int i = 0; i < 3; i++) root = insert(root, i); return root->right->key - 1; }
"""


def test_recursion_at_two_places_is_shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each body allocates, so there are as many places to which pointers lead.

    Inlined, each level has twice the bodies of the one above; shared, as many."""
    path = tmp_path / "insert.c"
    path.write_text(INSERT)

    def count_cells(depth: int) -> int:
        return len(load_c(path, Reading(max_depth=depth)).cells)

    monkeypatch.setattr(return_sites, "MOST_DOUBLED", 1)
    first, second, third = map(count_cells, (3, 4, 5))
    level = second - first
    assert third - second == level
    monkeypatch.undo()
    depth = Reading().max_depth
    assert count_cells(depth) == first + (depth - 3) * level
    monkeypatch.setattr(return_sites, "MOST_DOUBLED", return_sites.MOST_INLINED)
    first, second, third = map(count_cells, (3, 4, 5))
    assert third - second > 1.9 * (second - first) > 2 * level


BOXES = """
#include <pthread.h>
struct box { unsigned from; pthread_mutex_t m; pthread_cond_t c; } box[2];
void *f(void *p) {
  struct box *b = &box[box[0].from]; pthread_mutex_lock(&b->m); pthread_cond_signal(&b->c);
  b->from = 4000000000u; pthread_mutex_unlock(&b->m); return 0; }
int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_join(t, 0); return 0; }
"""


def test_program_counters_are_no_memory(tmp_path: Path) -> None:
    """What signals through a pointer cannot mean a counter, which would be as wide as data then."""
    path = tmp_path / "boxes.c"
    path.write_text(BOXES)
    program = load_program(str(path), Reading())
    layout = make_layout(program)
    assert all(layout.slots[thread.counter].width < 8 for thread in program.threads)


PREPROCESSED = r"""
# 1 "/usr/include/string.h" 1 3
typedef unsigned long size_t;
extern size_t strlen (const char *__s) __attribute__ ((__nothrow__ , __leaf__)) __attribute__ ((__pure__));
extern int strcmp (const char *__s1, const char *__s2) __attribute__ ((__nothrow__ , __leaf__));
extern char *strcpy (char *__restrict __dest, const char *__restrict __src);
extern char *strdup (const char *__s) __attribute__ ((__nothrow__ , __leaf__)) __attribute__ ((__malloc__));
extern int snprintf (char *__restrict __s, size_t __maxlen, const char *__restrict __format, ...);
extern void qsort (void *__base, size_t __nmemb, size_t __size, int (*__compar)(const void *, const void *));
extern void __assert_fail (const char *, const char *, unsigned int, const char *);
# 3 "program.c" 2
static int by_number(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
STRLEN
int main(void) {
  int numbers[3] = {3, 1, 2};
  char text[8], *other;
  qsort(numbers, 3, sizeof(int), by_number);
  snprintf(text, sizeof text, "%d-%s", numbers[2], "x");
  other = strdup(text);
  if (strcmp(other, "3-x") || strlen(text) != EXPECTED) __assert_fail("0", "program.c", 9, "main");
  return 0;
}
"""  # noqa: E501


@pytest.mark.parametrize(("strlen", "expected", "found"), [
    ("", 3, "holds"),
    ("", 4, "violated"),
    ("size_t strlen(const char *text) { return 4; }", 4, "holds"),
])  # fmt: skip
def test_preprocessed_files_have_the_library(
    strlen: str, expected: int, found: str, tmp_path: Path
) -> None:
    """Functions that another preprocessor's headers only declare are defined, unless the file does
    so itself."""
    path = tmp_path / "program.i"
    path.write_text(PREPROCESSED.replace("STRLEN", strlen).replace("EXPECTED", str(expected)))
    assert mazurka.check(path, strategy="full").verdict == found
