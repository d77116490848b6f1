// expect: violated assert
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
struct thing { int value; } store;
atomic_int made;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
struct thing *get(void) {
    if (!made) {
        pthread_mutex_lock(&m);
        if (!made) { made = 1; store.value = 5; }
        pthread_mutex_unlock(&m);
    }
    return &store;
}
void *use(void *p) { assert(get()->value == 5); return 0; }

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, use, 0);
    pthread_create(&b, 0, use, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
