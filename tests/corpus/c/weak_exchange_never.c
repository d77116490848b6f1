// expect: violated hang
// Nobody gives the lock back: the exchange fails, with a reason or without one.
#include <pthread.h>
#include <stdatomic.h>
atomic_int lock;
void *take(void *unused) {
    int free = 0;
    while (!atomic_compare_exchange_weak(&lock, &free, 1)) free = 0;
    return 0;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, take, 0);
    pthread_create(&b, 0, take, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
