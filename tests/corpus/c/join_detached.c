// expect: violated exception "which is detached or was joined"
#include <pthread.h>
#include <semaphore.h>
#include <errno.h>
#include <assert.h>
sem_t s;
void *run(void *unused) {
    assert(sem_trywait(&s) == -1 && errno == EAGAIN);
    return 0;
}
int main(void) {
    pthread_t a, b;
    pthread_attr_t detached;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    pthread_create(&a, 0, run, 0);
    pthread_create(&b, &detached, run, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
