"""Functions that wait with a limit of time read the limit, and refuse an invalid one."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.frontend.c.test_c_verdicts import verdict

import mazurka

pytest.importorskip("clang")

HEAD = """
#include <errno.h>
#include <semaphore.h>
#include <threads.h>
#include <time.h>
pthread_cond_t c = PTHREAD_COND_INITIALIZER; pthread_rwlock_t r = PTHREAD_RWLOCK_INITIALIZER;
sem_t s; mtx_t mt; cnd_t ct;
struct timespec shared = {1, 0};
static void *late(void *u) { shared.tv_sec = 2; return 0; }
static void prepare(void) {
  sem_init(&s, 0, 0); mtx_init(&mt, mtx_timed); cnd_init(&ct); mtx_lock(&mt);
  pthread_mutex_lock(&m); pthread_rwlock_rdlock(&r);
}
"""
CALLS = {
    "sem_timedwait(&s, {})": "== -1 && errno == EINVAL",
    "sem_clockwait(&s, 1, {})": "== -1 && errno == EINVAL",
    "pthread_mutex_timedlock(&m, {})": "== EINVAL",
    "pthread_mutex_clocklock(&m, 1, {})": "== EINVAL",
    "pthread_rwlock_timedwrlock(&r, {})": "== EINVAL",
    "pthread_rwlock_clockwrlock(&r, 1, {})": "== EINVAL",
    "pthread_cond_timedwait(&c, &m, {})": "== EINVAL",
    "pthread_cond_clockwait(&c, &m, 1, {})": "== EINVAL",
    "mtx_timedlock(&mt, {})": "== thrd_error",
    "cnd_timedwait(&ct, &mt, {})": "== thrd_error",
    "nanosleep({}, 0)": "== -1 && errno == EINVAL",
    "thrd_sleep({}, 0)": "< -1",
}


def program(body: str) -> str:
    return f"{HEAD} int main(void) {{ prepare(); {body} return 0; }}"


@pytest.mark.parametrize("call", CALLS)
def test_invalid_limit(call: str, tmp_path: Path) -> None:
    parts = [
        f"{{ struct timespec bad = {{0, {number}}}; assert({call.format('&bad')} {CALLS[call]}); }}"
        for number in ("1000000000", "-1")
    ]
    valid = f"assert(!({call.format('&(struct timespec){1, 999999999}')} {CALLS[call]}));"
    # A thread that waits with an invalid limit keeps its mutex.
    held = "assert(pthread_mutex_trylock(&m) == EBUSY && mtx_trylock(&mt) == thrd_busy);"
    assert verdict(program("".join(parts) + held + valid), tmp_path) == ("holds", "")


@pytest.mark.parametrize("call", CALLS)
def test_limit_in_no_object(call: str, tmp_path: Path) -> None:
    null = f"struct timespec *volatile none = 0; {call.format('none')};"
    assert verdict(program(null), tmp_path) == ("violated", "memory")
    freed = "struct timespec *made = malloc(sizeof *made); made->tv_sec = made->tv_nsec = 0;"
    freed += f" free(made); {call.format('made')};"
    assert verdict(program(freed), tmp_path) == ("violated", "memory")


@pytest.mark.parametrize("call", CALLS)
def test_race_on_a_limit(call: str, tmp_path: Path) -> None:
    body = f"pthread_t t; pthread_create(&t, 0, late, 0); {call.format('&shared')};"
    found = verdict(program(body), tmp_path, properties=("race",))
    assert found == ("violated", "race")


def test_operations_that_need_not_wait_accept_any_limit(tmp_path: Path) -> None:
    body = """struct timespec bad = {0, -1}; sem_post(&s);
      mtx_unlock(&mt); pthread_mutex_unlock(&m);
      assert(sem_timedwait(&s, &bad) == 0 && mtx_timedlock(&mt, &bad) == thrd_success);
      assert(!pthread_mutex_timedlock(&m, &bad) && !pthread_rwlock_timedrdlock(&r, &bad));"""
    assert verdict(program(body), tmp_path) == ("holds", "")


NORMALIZED = """
void *f(void *p) { pthread_mutex_lock(&m); x = 1; pthread_cond_signal(&c);
  pthread_mutex_unlock(&m); return 0; }
int main(void) {
  pthread_t t; struct timespec until; int rc = 0;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += 500000000;
  if (until.tv_nsec >= 1000000000) { until.tv_sec++; until.tv_nsec -= 1000000000; }
  pthread_create(&t, 0, f, 0);
  pthread_mutex_lock(&m);
  while (!x && !rc) rc = pthread_cond_timedwait(&c, &m, &until);
  assert(x || rc == ETIMEDOUT);
  pthread_mutex_unlock(&m); pthread_join(t, 0); return 0;
}
"""


def test_usual_computation_of_a_limit_is_valid(tmp_path: Path) -> None:
    path = tmp_path / "program.c"
    include = "#include <assert.h>\n#include <pthread.h>\n#include <stdlib.h>\nint x;\n"
    path.write_text(include + "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;" + HEAD + NORMALIZED)
    assert mazurka.check(path).verdict == "holds"
    carried = "if (until.tv_nsec >= 1000000000) { until.tv_sec++; until.tv_nsec -= 1000000000; }"
    path.write_text(path.read_text().replace(carried, ""))
    assert mazurka.check(path).verdict == "violated"


def test_value_of_a_semaphore_goes_to_an_object(tmp_path: Path) -> None:
    body = "int *volatile none = 0; sem_getvalue(&s, none);"
    assert verdict(program(body), tmp_path) == ("violated", "memory")
