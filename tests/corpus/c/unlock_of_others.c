// expect: violated lock
#include <assert.h>
#include <pthread.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
void *hold(void *p) { pthread_mutex_lock(&m); return 0; }
void *drop(void *p) { pthread_mutex_unlock(&m); return 0; }

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, hold, 0);
    pthread_create(&b, 0, drop, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
