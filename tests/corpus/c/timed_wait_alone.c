// expect: holds
// check: --property assert,deadlock,hang
// A wait with a limit of time ends although nobody signals.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <threads.h>
#include <time.h>

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t c = PTHREAD_COND_INITIALIZER;
mtx_t plain;
cnd_t condition;

int main(void) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    pthread_mutex_lock(&m);
    int result = pthread_cond_timedwait(&c, &m, &until);
    assert(result == 0 || result == ETIMEDOUT);
    result = pthread_cond_clockwait(&c, &m, CLOCK_MONOTONIC, &until);
    assert(result == 0 || result == ETIMEDOUT);
    pthread_mutex_unlock(&m);
    mtx_init(&plain, mtx_timed);
    cnd_init(&condition);
    mtx_lock(&plain);
    result = cnd_timedwait(&condition, &plain, &until);
    assert(result == thrd_success || result == thrd_timedout);
    mtx_unlock(&plain);
    return 0;
}
