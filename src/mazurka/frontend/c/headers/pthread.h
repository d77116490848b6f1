#ifndef __MAZURKA_PTHREAD
#define __MAZURKA_PTHREAD
#include <stddef.h>
#include <sched.h>
#include <time.h>
typedef unsigned long pthread_t;
typedef unsigned int pthread_key_t;
typedef int pthread_once_t;
typedef struct { int __none; } pthread_attr_t;
typedef struct { int __kind; } pthread_mutexattr_t;
typedef struct { int __none; } pthread_condattr_t;
typedef struct { int __none; } pthread_rwlockattr_t;
typedef struct { int __none; } pthread_barrierattr_t;
typedef struct { int __kind; } pthread_mutex_t;
typedef struct { int __none; } pthread_cond_t;
typedef struct { int __none; } pthread_rwlock_t;
typedef struct { int __none; } pthread_barrier_t;
typedef int pthread_spinlock_t;
#define PTHREAD_MUTEX_NORMAL 0
#define PTHREAD_MUTEX_DEFAULT 0
#define PTHREAD_MUTEX_RECURSIVE 1
#define PTHREAD_MUTEX_ERRORCHECK 2
#define PTHREAD_MUTEX_INITIALIZER {0}
#define PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP {1}
#define PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP {2}
#define PTHREAD_COND_INITIALIZER {0}
#define PTHREAD_RWLOCK_INITIALIZER {0}
#define PTHREAD_ONCE_INIT 0
#define PTHREAD_BARRIER_SERIAL_THREAD (-1)
#define PTHREAD_PROCESS_PRIVATE 0
#define PTHREAD_PROCESS_SHARED 1
#define PTHREAD_CREATE_JOINABLE 0
#define PTHREAD_CREATE_DETACHED 1
#define PTHREAD_CANCELED ((void *)-1)
#define PTHREAD_CANCEL_ENABLE 0
#define PTHREAD_CANCEL_DISABLE 1
#define PTHREAD_CANCEL_DEFERRED 0
#define PTHREAD_CANCEL_ASYNCHRONOUS 1
#define PTHREAD_PRIO_NONE 0
#define PTHREAD_PRIO_INHERIT 1
#define PTHREAD_PRIO_PROTECT 2
#define PTHREAD_SCOPE_SYSTEM 0
#define PTHREAD_INHERIT_SCHED 0
#define PTHREAD_EXPLICIT_SCHED 1
extern int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *argument);
extern int pthread_join(pthread_t thread, void **result);
extern int pthread_detach(pthread_t thread);
extern void pthread_exit(void *result) __attribute__((__noreturn__));
extern pthread_t pthread_self(void);
extern int pthread_equal(pthread_t left, pthread_t right);
extern int pthread_cancel(pthread_t thread);
extern int pthread_attr_init(pthread_attr_t *attributes);
extern int pthread_attr_destroy(pthread_attr_t *attributes);
extern int pthread_attr_setdetachstate(pthread_attr_t *attributes, int state);
extern int pthread_attr_setstacksize(pthread_attr_t *attributes, size_t size);
extern int pthread_mutexattr_init(pthread_mutexattr_t *attributes);
extern int pthread_mutexattr_destroy(pthread_mutexattr_t *attributes);
extern int pthread_mutexattr_settype(pthread_mutexattr_t *attributes, int kind);
extern int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes);
extern int pthread_mutex_destroy(pthread_mutex_t *mutex);
extern int pthread_mutex_lock(pthread_mutex_t *mutex);
extern int pthread_mutex_trylock(pthread_mutex_t *mutex);
extern int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until);
extern int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock,
                                   const struct timespec *until);
extern int pthread_mutex_unlock(pthread_mutex_t *mutex);
extern int pthread_cond_init(pthread_cond_t *condition, const pthread_condattr_t *attributes);
extern int pthread_cond_destroy(pthread_cond_t *condition);
extern int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex);
extern int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                  const struct timespec *until);
extern int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                  clockid_t clock, const struct timespec *until);
extern int pthread_cond_signal(pthread_cond_t *condition);
extern int pthread_cond_broadcast(pthread_cond_t *condition);
extern int pthread_rwlock_init(pthread_rwlock_t *lock, const pthread_rwlockattr_t *attributes);
extern int pthread_rwlock_destroy(pthread_rwlock_t *lock);
extern int pthread_rwlock_rdlock(pthread_rwlock_t *lock);
extern int pthread_rwlock_wrlock(pthread_rwlock_t *lock);
extern int pthread_rwlock_tryrdlock(pthread_rwlock_t *lock);
extern int pthread_rwlock_trywrlock(pthread_rwlock_t *lock);
extern int pthread_rwlock_unlock(pthread_rwlock_t *lock);
extern int pthread_barrier_init(pthread_barrier_t *barrier,
                                const pthread_barrierattr_t *attributes, unsigned count);
extern int pthread_barrier_destroy(pthread_barrier_t *barrier);
extern int pthread_barrier_wait(pthread_barrier_t *barrier);
extern int pthread_spin_init(pthread_spinlock_t *lock, int shared);
extern int pthread_spin_destroy(pthread_spinlock_t *lock);
extern int pthread_spin_lock(pthread_spinlock_t *lock);
extern int pthread_spin_trylock(pthread_spinlock_t *lock);
extern int pthread_spin_unlock(pthread_spinlock_t *lock);
extern int pthread_once(pthread_once_t *control, void (*routine)(void));
extern int pthread_key_create(pthread_key_t *key, void (*destructor)(void *));
extern int pthread_key_delete(pthread_key_t key);
extern void *pthread_getspecific(pthread_key_t key);
extern int pthread_setspecific(pthread_key_t key, const void *value);
extern int pthread_setname_np(pthread_t thread, const char *name);
extern int pthread_condattr_init(pthread_condattr_t *attributes);
extern int pthread_condattr_destroy(pthread_condattr_t *attributes);
extern int pthread_condattr_setclock(pthread_condattr_t *attributes, clockid_t clock);
extern int pthread_condattr_setpshared(pthread_condattr_t *attributes, int shared);
extern int pthread_mutexattr_setpshared(pthread_mutexattr_t *attributes, int shared);
extern int pthread_mutexattr_setrobust(pthread_mutexattr_t *attributes, int robust);
extern int pthread_rwlockattr_init(pthread_rwlockattr_t *attributes);
extern int pthread_rwlockattr_destroy(pthread_rwlockattr_t *attributes);
extern int pthread_mutex_consistent(pthread_mutex_t *mutex);
extern void __mazurka_cleanup_push(void (*routine)(void *), void *argument);
extern void __mazurka_cleanup_pop(void);
#define PTHREAD_MUTEX_STALLED 0
#define PTHREAD_MUTEX_ROBUST 1
#define pthread_cleanup_push(function, given) \
    { void (*__mazurka_routine)(void *) = (function); void *__mazurka_argument = (given); \
      __mazurka_cleanup_push(__mazurka_routine, __mazurka_argument);
#define pthread_cleanup_pop(execute) \
      __mazurka_cleanup_pop(); \
      if (execute) __mazurka_routine(__mazurka_argument); }
extern int pthread_yield(void);
extern int pthread_rwlock_timedrdlock(pthread_rwlock_t *lock, const struct timespec *until);
extern int pthread_rwlock_timedwrlock(pthread_rwlock_t *lock, const struct timespec *until);
extern int pthread_rwlock_clockrdlock(pthread_rwlock_t *lock, clockid_t clock,
                                      const struct timespec *until);
extern int pthread_rwlock_clockwrlock(pthread_rwlock_t *lock, clockid_t clock,
                                      const struct timespec *until);
extern int pthread_rwlockattr_setpshared(pthread_rwlockattr_t *attributes, int shared);
extern int pthread_mutexattr_setprotocol(pthread_mutexattr_t *attributes, int protocol);
extern int pthread_attr_setschedpolicy(pthread_attr_t *attributes, int policy);
extern int pthread_attr_setinheritsched(pthread_attr_t *attributes, int inherit);
extern int pthread_attr_setscope(pthread_attr_t *attributes, int scope);
extern int pthread_attr_setschedparam(pthread_attr_t *attributes, const struct sched_param *given);
extern int pthread_setschedparam(pthread_t thread, int policy, const struct sched_param *given);
extern int pthread_setschedprio(pthread_t thread, int priority);
extern int pthread_setaffinity_np(pthread_t thread, size_t size, const cpu_set_t *set);
/* Nobody is cancelled: `pthread_cancel` is refused. */
static int pthread_setcancelstate(int state, int *old) {
    static _Thread_local int __now = PTHREAD_CANCEL_ENABLE;
    if (old) *old = __now;
    __now = state;
    return 0;
}
static int pthread_setcanceltype(int type, int *old) {
    static _Thread_local int __now = PTHREAD_CANCEL_DEFERRED;
    if (old) *old = __now;
    __now = type;
    return 0;
}
static void pthread_testcancel(void) {}
#endif
