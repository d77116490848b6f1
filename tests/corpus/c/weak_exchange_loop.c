// expect: holds
// check: --property assert,deadlock,hang
// Failing for ever is no hang: the loop can be left by a choice.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_int x;
void *add(void *unused) {
    int old = atomic_load(&x);
    while (!atomic_compare_exchange_weak(&x, &old, old + 1)) {
    }
    return 0;
}
int main(void) {
    pthread_t a, b;
    int expected = 2;
    pthread_create(&a, 0, add, 0);
    pthread_create(&b, 0, add, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(atomic_compare_exchange_strong(&x, &expected, 3) && atomic_load(&x) == 3);
    return 0;
}
