// expect: holds
#include <assert.h>
#include <pthread.h>
pthread_barrier_t b;
int x, y, serial;
void *left(void *p) { x = 1; if (pthread_barrier_wait(&b) == PTHREAD_BARRIER_SERIAL_THREAD) __sync_fetch_and_add(&serial, 1); assert(y == 1); return 0; }
void *right(void *p) { y = 1; if (pthread_barrier_wait(&b) == PTHREAD_BARRIER_SERIAL_THREAD) __sync_fetch_and_add(&serial, 1); assert(x == 1); return 0; }

int main(void) {
    pthread_t a, c;
    pthread_barrier_init(&b, 0, 2);
    pthread_create(&a, 0, left, 0);
    pthread_create(&c, 0, right, 0);
    pthread_join(a, 0);
    pthread_join(c, 0);
    assert(serial == 1);
    return 0;
}
