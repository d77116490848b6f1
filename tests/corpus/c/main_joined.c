// expect: violated assert "early"
// The main thread ends by itself and is waited for; who waits too late sees it running.
#include <assert.h>
#include <pthread.h>
pthread_t first;
int done, early;
void *wait_for_main(void *unused) {
    void *result;
    early = done;
    pthread_join(first, &result);
    assert(done == 1 && result == &done);
    assert(early);
    return 0;
}
int main(void) {
    pthread_t waiting;
    first = pthread_self();
    pthread_create(&waiting, 0, wait_for_main, 0);
    done = 1;
    pthread_exit(&done);
}
