"""Small C programs have the right verdicts."""

from __future__ import annotations

from pathlib import Path

import pytest

import mazurka

pytest.importorskip("clang")

HEAD = """
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
int x, y;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
"""
TWO = """
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, f, 0);
  pthread_create(&b, 0, f, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(x == 2);
  return 0;
}
"""


def verdict(text: str, tmp_path: Path, **options: object) -> tuple[str, str]:
    path = tmp_path / "program.c"
    path.write_text(HEAD + text)
    found = mazurka.check(path, strategy="full", **options)  # type: ignore[arg-type]
    return found.verdict, found.violation.kind if found.violation else ""


def test_lost_update(tmp_path: Path) -> None:
    assert verdict("void *f(void *p) { x++; return 0; }" + TWO, tmp_path) == ("violated", "assert")


def test_mutex_protects(tmp_path: Path) -> None:
    body = "void *f(void *p) { pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); return 0; }"
    assert verdict(body + TWO, tmp_path) == ("holds", "")


def test_atomic_builtin(tmp_path: Path) -> None:
    body = "void *f(void *p) { __sync_fetch_and_add(&x, 1); return 0; }"
    assert verdict(body + TWO, tmp_path) == ("holds", "")


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("unsigned char c = 255; c++; assert(c == 0);", "holds"),
        ("int i = -7; assert(i / 2 == -3 && i % 2 == -1);", "holds"),
        ("unsigned u = 0; u--; assert(u == 4294967295u);", "holds"),
        ("unsigned long v = -1; assert(v > 1ul << 63);", "holds"),
        ("int i = 3; unsigned u = 5; assert(i - u > 0);", "holds"),
        ("int i = 1, j = 0; assert(i++ + i == 3 || j);", "holds"),
        ("int s = 0, i; for (i = 0; i < 4; i++) { if (i == 2) continue; s += i; } assert(s == 4);",
         "holds"),
        ("int i = 0; do i++; while (i < 5); assert(i == 5);", "holds"),
        ("int r = 0; switch (2) { case 1: r = 1; case 2: r += 2; case 3: r += 3; break;"
         " default: r = 9; } assert(r == 5);", "holds"),
        ("struct { int a; struct { char b; } c; } s = {1, {2}}, t = s;"
         " assert(t.c.b == 2);", "holds"),
        ("int a[3] = {1, 2, 3}, *p = a + 1; assert(p[1] == 3 && *(p - 1) == 1);", "holds"),
        ("int k = ({ int z = 2; z * 3; }); assert(k == 6);", "holds"),
        ("int i = 0; again: i++; if (i < 3) goto again; assert(i == 3);", "holds"),
        ("int i = 5; assert(i == 4);", "violated"),
    ],
)  # fmt: skip
def test_sequential_code(code: str, expected: str, tmp_path: Path) -> None:
    assert verdict(f"int main(void) {{ {code} return 0; }}", tmp_path)[0] == expected


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("int *p = 0; *p = 1;", "memory"),
        ("int a[2], i = 2; a[i] = 1;", "index"),
        ("int *p = malloc(4); free(p); *p = 1;", "memory"),
        ("int *p = malloc(4); free(p); free(p);", "memory"),
        ("pthread_mutex_unlock(&m);", "lock"),
        ("int i = 0; x = 1 / i;", "exception"),
        ("int a[2], *p = a; p += 3;", "memory"),
        ("static struct { char b[4]; int z; } s; char *p = s.b;"
         " for (int i = 0; i < 4; i++) p[i] = 'a' + i; p[4] = 1;", "memory"),
    ],
)  # fmt: skip
def test_faults(code: str, kind: str, tmp_path: Path) -> None:
    body = f"int main(void) {{ {code} return 0; }}"
    assert verdict(body, tmp_path) == ("violated", kind)


def test_overflow_is_checked_on_request(tmp_path: Path) -> None:
    body = "int main(void) { int i = 2147483647; x = i; x = x + 1; return 0; }"
    assert verdict(body, tmp_path)[0] == "holds"
    assert verdict(body, tmp_path, overflow=True) == ("violated", "range")


def test_memory_that_was_never_written_holds_any_value(tmp_path: Path) -> None:
    body = "int main(void) { int a[2]; assert(a[1] == 0); return 0; }"
    assert verdict(body, tmp_path) == ("violated", "assert")


def test_strategies_are_compared_on_memory_that_holds_any_value(tmp_path: Path) -> None:
    path = tmp_path / "program.c"
    path.write_text(HEAD + "int main(void) { _Bool a[2]; assert(a[1] == a[1]); return !a[0]; }")
    found = mazurka.compare(path, strategies=("full", "stubborn"))
    assert [each.verdict for each in found.verdicts] == ["holds", "holds"]
    assert any("holds any value" in note for note in found.notes)


def test_the_end_of_main_ends_everything(tmp_path: Path) -> None:
    """A thread that waits for ever is no deadlock once the process has ended."""
    body = """
    void *f(void *p) { pthread_mutex_lock(&m); return 0; }
    int main(void) { pthread_t a; pthread_mutex_lock(&m); pthread_create(&a, 0, f, 0); return 0; }
    """
    assert verdict(body, tmp_path)[0] == "holds"


def test_waiting_for_a_thread_that_waits_is_a_deadlock(tmp_path: Path) -> None:
    body = """
    void *f(void *p) { pthread_mutex_lock(&m); return 0; }
    int main(void) { pthread_t a; pthread_mutex_lock(&m); pthread_create(&a, 0, f, 0);
      pthread_join(a, 0); return 0; }
    """
    assert verdict(body, tmp_path) == ("violated", "deadlock")


@pytest.mark.parametrize(
    "keep",
    [
        "void keep(struct pair *p) { kept = &p->b; }",
        "void keep(struct pair *p) { kept = &p[0].b; }",
        "void keep(struct pair *p) { kept = p->c; }",
        "void deeper(int *q) { kept = q; } void keep(struct pair *p) { deeper(&p->b); }",
    ],
)
def test_local_variable_whose_part_escapes_is_shared(keep: str, tmp_path: Path) -> None:
    """A function that keeps the address of a part makes it known to other threads."""
    body = f"""
    struct pair {{ int a, b, c[2]; }};
    int *kept;
    {keep}
    void *f(void *unused) {{ *kept = 1; return 0; }}
    int main(void) {{
      struct pair local = {{0, 0, {{0}}}};
      pthread_t a;
      keep(&local);
      pthread_create(&a, 0, f, 0);
      int early = local.b + local.c[0];
      pthread_join(a, 0);
      assert(early == 0);
      return 0;
    }}
    """
    assert verdict(body, tmp_path) == ("violated", "assert")


def test_global_whose_address_another_one_has_is_no_constant(tmp_path: Path) -> None:
    body = "int z = 1, *p = &z; int main(void) { *p = 2; assert(z == 1); return 0; }"
    assert verdict(body, tmp_path) == ("violated", "assert")


def test_bytes_of_a_number_are_undecided(tmp_path: Path) -> None:
    body = "int main(void) { x = 1; char *p = (char *)&x; y = *p; assert(y == 1); return 0; }"
    assert verdict(body, tmp_path)[0] == "inconclusive"


def test_hangs_are_not_looked_for_where_lives_end_in_loops(tmp_path: Path) -> None:
    """Such a loop changes the cells that say who is alive, so that its hang would not be seen."""
    path = tmp_path / "program.c"
    loop = (
        "void *f(void *a) {{ int *q; while (1) {{ {0} q = &y; y = x; if (*q) break; }} return 0; }}"
    )
    main = """int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_join(t, 0); }"""
    path.write_text(HEAD + loop.format("int y;") + main)
    found = mazurka.check(path, strategy="full")
    assert "hang" not in found.properties
    assert any("may be outlived" in note for note in found.notes)
    path.write_text(HEAD + loop.format("").replace("int *q;", "int *q, y;") + main)
    assert mazurka.check(path, strategy="full").verdict == "violated"


def test_addresses_that_change_while_a_program_is_built(tmp_path: Path) -> None:
    """What the first rounds of building know of addresses is no mistake of the front end."""
    code = """
    int *p[3], sum, two = 2, fixed[3];
    int main(void) {
      p[2] = fixed + 3;
      free(p[2]);
      p[0] = calloc(two - 1, sizeof(int));
      p[0] = calloc(4, sizeof(int));
      if (p[1]) sum += p[1][two - 1];
      return 0;
    }
    """
    assert verdict(code, tmp_path) == ("violated", "memory")
