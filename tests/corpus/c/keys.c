// expect: holds
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
pthread_key_t key;
int gone;
void leave(void *value) { __sync_fetch_and_add(&gone, *(int *)value); }
int numbers[2] = {1, 2};
void *first(void *p) { pthread_setspecific(key, &numbers[0]); assert(*(int *)pthread_getspecific(key) == 1); return 0; }
void *second(void *p) { pthread_setspecific(key, &numbers[1]); return 0; }

int main(void) {
    pthread_t a, b;
    pthread_key_create(&key, leave);
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(gone == 3);
    return 0;
}
