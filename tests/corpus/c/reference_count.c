// expect: holds
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
struct object { int count; int value; };
struct object *shared;
void *drop(void *p) {
    assert(shared->value == 3);
    if (__sync_sub_and_fetch(&shared->count, 1) == 0) free(shared);
    return 0;
}

int main(void) {
    pthread_t a, b;
    shared = malloc(sizeof(struct object));
    shared->count = 2;
    shared->value = 3;
    pthread_create(&a, 0, drop, 0);
    pthread_create(&b, 0, drop, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
