// expect: holds
// Nobody uses the values that are missing.
#include <assert.h>
#include <pthread.h>
int calls;
int count(void) { calls++; }
void *work(void *unused) { count(); }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
    calls ? (void)count() : (void)0;
    assert(calls == 2);
}
