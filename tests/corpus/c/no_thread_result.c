// expect: inconclusive
// check: --property assert
#include <assert.h>
#include <pthread.h>
void *work(void *some) { if (some) return some; }
int main(void) {
    pthread_t thread;
    void *result;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, &result);
    assert(result == 0);
    return 0;
}
