// expect: holds
// Threads that run together have different stacks, also for variables that are no more.
#include <assert.h>
#include <pthread.h>

int *_Atomic saved;

void keeps(void) {
    int here = 1;
    int *found = saved;
    if (found)
        assert(found != &here);
    saved = &here;
}

void *calls(void *unused) {
    keeps();
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, calls, 0);
    pthread_create(&b, 0, calls, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
