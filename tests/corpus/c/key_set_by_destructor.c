// expect: inconclusive
// A destructor that gives its key a value runs again.
#include <assert.h>
#include <pthread.h>

pthread_key_t key;
int runs, value;

static void destroy(void *given) {
    if (++runs == 1)
        pthread_setspecific(key, given);
}

void *worker(void *unused) {
    pthread_setspecific(key, &value);
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_key_create(&key, destroy);
    pthread_create(&thread, 0, worker, 0);
    pthread_join(thread, 0);
    assert(runs == 1);
    return 0;
}
