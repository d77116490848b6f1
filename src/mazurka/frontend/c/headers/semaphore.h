#ifndef __MAZURKA_SEMAPHORE
#define __MAZURKA_SEMAPHORE
#include <time.h>
typedef struct { int __value; } sem_t;
extern int sem_init(sem_t *semaphore, int shared, unsigned value);
extern int sem_destroy(sem_t *semaphore);
extern int sem_wait(sem_t *semaphore);
extern int sem_trywait(sem_t *semaphore);
extern int sem_timedwait(sem_t *semaphore, const struct timespec *until);
extern int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *until);
extern int sem_post(sem_t *semaphore);
extern int sem_getvalue(sem_t *semaphore, int *value);
extern sem_t *sem_open(const char *name, int flags, ...);
extern int sem_close(sem_t *semaphore);
extern int sem_unlink(const char *name);
#define SEM_FAILED ((sem_t *)0)
#endif
