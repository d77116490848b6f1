"""Random concurrent C programs: few threads, small numbers, locks, atomics, pointers, assumptions.

All of them end, so that every strategy can judge them.  Those with `memory` also allocate, free and
compare pointers, and wait with a limit of time.
"""

from __future__ import annotations

from random import Random

HEAD = """
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
extern void __VERIFIER_assume(int);
extern void __VERIFIER_atomic_begin(void), __VERIFIER_atomic_end(void);
struct pair { int a, b; };
int x, y = 1;
_Atomic int z;
struct pair s;
int *p = &x;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
"""
SHARED = ("x", "y", "s.a", "*p")
MEMORY_HEAD = """
#include <errno.h>
#include <semaphore.h>
#include <time.h>
int *q, *r;
pthread_cond_t c = PTHREAD_COND_INITIALIZER;
sem_t items;
struct timespec until;
"""
MEMORY = (
    "q = malloc(sizeof(int));",
    "r = malloc(sizeof(int));",
    "{ int *new = malloc(sizeof(int)); *new = t; int *old = q; q = new; free(old); }",
    "{ int *old = __atomic_exchange_n(&q, (int *)0, 5); free(old); }",
    "{ int *old = r; free(old); r = malloc(sizeof(int)); t = r == old; }",
    "r = q;",
    "t = q == r;",
    "{ int *old = q; if (old) { t = __sync_bool_compare_and_swap(&q, old, r); } }",
    "{ int *old = q; x = old != r; t = q == old; }",
    "assert(!q || q != r);",
    "if (q == r) assert(t < 2);",
    "free(__atomic_exchange_n(&q, realloc(__atomic_exchange_n(&r, (int *)0, 5), sizeof(int)), 5));",
)
TIMED = (
    "pthread_mutex_lock(&m); t = pthread_cond_timedwait(&c, &m, &until) == ETIMEDOUT;"
    " assert(!t || x < 2); pthread_mutex_unlock(&m);",
    "pthread_mutex_lock(&m); while (x < 1 && !t) t = pthread_cond_timedwait(&c, &m, &until) != 0;"
    " pthread_mutex_unlock(&m);",
    "pthread_mutex_lock(&m); x = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&m);",
    "pthread_cond_broadcast(&c);",
    "t = sem_timedwait(&items, &until) != 0;",
    "sem_post(&items);",
    "if (pthread_mutex_timedlock(&m, &until) == 0) { x++; pthread_mutex_unlock(&m); }",
    "if (pthread_mutex_timedlock(&n, &until) == ETIMEDOUT) t = 1; else pthread_mutex_unlock(&n);",
)


class ConcurrentCode:
    """The body of one thread on its way."""

    def __init__(self, random: Random, *, memory: bool = False) -> None:
        self.random = random
        self.memory = memory
        self.names = 0

    def value(self) -> str:
        place = self.random.choice((*SHARED, "t", "t", "z"))
        form = self.random.choice(("{0}", "({0} + 1) % 3", "!{0}", "{0} ^ 1", "1", "2"))
        return form.format(place)

    def test(self) -> str:
        place = self.random.choice((*SHARED, "t"))
        return f"{place} {self.random.choice(('==', '!=', '<', '>='))} {self.random.randrange(3)}"

    def statement(self, depth: int) -> str:
        if self.memory and self.random.random() < 0.7:
            return self.random.choice(MEMORY if self.random.random() < 0.6 else TIMED)
        kind = self.random.randrange(13)
        target = self.random.choice((*SHARED, "t", "t"))
        inner = self.statement(depth - 1) if depth else "t = 0;"
        match kind:
            case 0 | 1 | 2:
                return f"{target} = {self.value()};"
            case 3:
                lock = self.random.choice("mn")
                return f"pthread_mutex_lock(&{lock}); {inner} pthread_mutex_unlock(&{lock});"
            case 4 | 5:
                return f"if ({self.test()}) {{ {inner} }} else {{ {target} = 1; }}"
            case 6:
                self.names += 1
                return (
                    f"for (int i{self.names} = 0; i{self.names} < 2; i{self.names}++) {{ {inner} }}"
                )
            case 7:
                return f"p = &{self.random.choice(('x', 'y', 's.a'))};"
            case 8:
                return self.random.choice(
                    ("z++;", "z = 2;", "t = __sync_fetch_and_add(&x, 1) % 3;")
                )
            case 9:
                inner = f"{target} = {self.value()};"
                return f"__VERIFIER_atomic_begin(); {inner} __VERIFIER_atomic_end();"
            case 10:
                return f"__VERIFIER_assume({self.test()});"
            case 11:
                return f"assert({self.test()});"
            case _:
                return "struct pair c = s; c.b = t; s = c;"


def random_concurrent(random: Random, *, memory: bool = False) -> str:
    """A program with two threads beside `main`."""
    threads = []
    for number in range(2):
        code = ConcurrentCode(random, memory=memory)
        body = " ".join(f"{{ {code.statement(1)} }}" for _ in range(random.randrange(1, 4)))
        threads.append(f"void *f{number}(void *unused) {{ int t = 0; {body} return 0; }}")
    joins = "pthread_join(a, 0); pthread_join(b, 0);" if random.random() < 0.8 else ""
    last = ConcurrentCode(random)
    head, ready = (HEAD + MEMORY_HEAD, "sem_init(&items, 0, 0);") if memory else (HEAD, "")
    return f"""{head}
{chr(10).join(threads)}
int main(void) {{
  int t = 0;
  pthread_t a, b;
  {ready}
  pthread_create(&a, 0, f0, 0);
  pthread_create(&b, 0, f{random.randrange(2)}, 0);
  {joins}
  assert({last.test()} || {last.test()});
  return 0;
}}
"""
