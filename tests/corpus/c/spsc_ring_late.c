// expect: violated assert
// check: --property assert
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
int ring[2];
atomic_uint head, tail;
void *put(void *p) { tail++; ring[0] = 1; return 0; }
void *take(void *p) { while (head == tail) {} assert(ring[0] == 1); return 0; }

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, put, 0);
    pthread_create(&b, 0, take, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
