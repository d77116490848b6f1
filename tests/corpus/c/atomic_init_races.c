// expect: violated race
// check: --property race
// Initializing an atomic object is no atomic operation.
#include <pthread.h>
#include <stdatomic.h>

atomic_int number;

void *worker(void *unused) {
    atomic_init(&number, 1);
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, worker, 0);
    int seen = atomic_load(&number);
    pthread_join(thread, 0);
    return seen > 1;
}
