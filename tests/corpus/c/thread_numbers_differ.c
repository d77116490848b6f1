// expect: holds
// Threads that exist at the same time have different numbers.
#include <assert.h>
#include <pthread.h>

void *runs(void *unused) {
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, runs, 0);
    pthread_create(&b, 0, runs, 0);
    pthread_join(a, 0);
    assert(!pthread_equal(a, b) && !pthread_equal(a, pthread_self()));
    pthread_join(b, 0);
    assert(a != b && a != pthread_self());
    return 0;
}
