// expect: inconclusive
// The number of a joined thread may be that of a later one: no integer tells that.
#include <assert.h>
#include <pthread.h>

void *runs(void *unused) { return 0; }

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, runs, 0);
    pthread_join(a, 0);
    unsigned long first = (unsigned long)a;
    pthread_create(&b, 0, runs, 0);
    pthread_join(b, 0);
    assert(first != (unsigned long)b);
    return 0;
}
