// expect: violated assert "assertion failed"
// The time is over while another thread has the mutex, which then signals in vain.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t c = PTHREAD_COND_INITIALIZER;
int ready;

void *waits(void *unused) {
    struct timespec until = {0, 0};
    int result = 0;
    pthread_mutex_lock(&m);
    while (!ready && result != ETIMEDOUT)
        result = pthread_cond_timedwait(&c, &m, &until);
    assert(ready == (result != ETIMEDOUT));
    pthread_mutex_unlock(&m);
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, waits, 0);
    pthread_mutex_lock(&m);
    ready = 1;
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
    pthread_join(t, 0);
    return 0;
}
