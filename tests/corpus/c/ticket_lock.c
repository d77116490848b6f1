// expect: holds
// check: --property assert,race
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_uint next, serving;
int x;
void *add(void *p) {
    unsigned mine = atomic_fetch_add(&next, 1);
    while (atomic_load(&serving) != mine) {}
    x++;
    serving++;
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, add, 0);
    pthread_create(&b, 0, add, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(x == 2);
    return 0;
}
