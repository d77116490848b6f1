// expect: violated assert "saved != &here"
// A thread may have the stack of one that has been joined.
#include <assert.h>
#include <pthread.h>

int *saved;

void *keeps(void *unused) {
    int here = 1;
    if (saved)
        assert(saved != &here);
    saved = &here;
    return 0;
}

int main(void) {
    pthread_t t;
    for (int i = 0; i < 2; i++) {
        pthread_create(&t, 0, keeps, 0);
        pthread_join(t, 0);
    }
    return 0;
}
