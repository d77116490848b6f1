// expect: violated assert "version == seen"
// The pointer that is found again leads to another object: the first one has been freed.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

int *_Atomic slot;
int version;

void *takes(void *unused) {
    int *expected = atomic_load(&slot);
    int seen = version;
    if (atomic_compare_exchange_strong(&slot, &expected, 0))
        assert(version == seen);
    return 0;
}

int main(void) {
    pthread_t t;
    atomic_store(&slot, malloc(sizeof(int)));
    pthread_create(&t, 0, takes, 0);
    int *old = atomic_exchange(&slot, 0);
    if (old) {
        free(old);
        int *next = malloc(sizeof(int));
        version = 1;
        atomic_store(&slot, next);
    }
    pthread_join(t, 0);
    return 0;
}
