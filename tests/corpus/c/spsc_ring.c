// expect: holds
// check: --property assert,race
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
int ring[2];
atomic_uint head, tail;
void *put(void *p) {
    for (int i = 1; i <= 3; i++) {
        while (tail - head == 2) {}
        ring[tail % 2] = i;
        tail++;
    }
    return 0;
}
void *take(void *p) {
    for (int i = 1; i <= 3; i++) {
        while (head == tail) {}
        assert(ring[head % 2] == i);
        head++;
    }
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, put, 0);
    pthread_create(&b, 0, take, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
