// expect: holds
// check: --property assert,race
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_int ready;
int data;
void *set(void *p) { data = 1; ready = 1; return 0; }
void *get(void *p) { if (ready) assert(data == 1); return 0; }

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, set, 0);
    pthread_create(&b, 0, get, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
