// expect: violated assert "pthread_equal"
// A thread may have the number of one that has been joined.
#include <assert.h>
#include <pthread.h>

void *runs(void *unused) { return 0; }

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, runs, 0);
    pthread_join(a, 0);
    pthread_create(&b, 0, runs, 0);
    pthread_join(b, 0);
    assert(!pthread_equal(a, b));
    return 0;
}
