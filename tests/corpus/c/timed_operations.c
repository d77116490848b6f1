// expect: holds
// What operations with a limit of time return when it is over.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <threads.h>
#include <time.h>

pthread_mutex_t checked, m = PTHREAD_MUTEX_INITIALIZER;
pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
mtx_t plain;
sem_t items;

int main(void) {
    struct timespec until = {0, 0};
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&checked, &kind);
    assert(pthread_mutex_timedlock(&checked, &until) == 0);
    assert(pthread_mutex_timedlock(&checked, &until) == EDEADLK);
    assert(pthread_mutex_trylock(&checked) == EBUSY);
    assert(pthread_mutex_clocklock(&m, CLOCK_MONOTONIC, &until) == 0);
    assert(pthread_mutex_timedlock(&m, &until) == ETIMEDOUT);
    assert(pthread_mutex_clocklock(&m, CLOCK_MONOTONIC, &until) == ETIMEDOUT);
    mtx_init(&plain, mtx_timed);
    assert(mtx_timedlock(&plain, &until) == thrd_success);
    assert(mtx_timedlock(&plain, &until) == thrd_timedout);
    assert(mtx_trylock(&plain) == thrd_busy);
    sem_init(&items, 0, 0);
    assert(sem_timedwait(&items, &until) == -1 && errno == ETIMEDOUT);
    assert((sem_timedwait)(&items, &until) == -1 && errno == ETIMEDOUT);
    assert(sem_clockwait(&items, CLOCK_MONOTONIC, &until) == -1 && errno == ETIMEDOUT);
    assert(sem_trywait(&items) == -1 && errno == EAGAIN);
    assert(pthread_rwlock_timedwrlock(&lock, &until) == 0);
    assert(pthread_rwlock_timedrdlock(&lock, &until) == ETIMEDOUT);
    assert(pthread_rwlock_clockwrlock(&lock, CLOCK_MONOTONIC, &until) == ETIMEDOUT);
    assert(pthread_rwlock_tryrdlock(&lock) == EBUSY);
    return 0;
}
