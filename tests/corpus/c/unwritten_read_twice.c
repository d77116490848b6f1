// expect: holds
// Memory that nobody has written holds any value, the same for all who read it.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
_Bool *shared;
void *compare(void *unused) {
    _Bool first = *shared, second = *shared;
    assert(first == second);
    return 0;
}
int main(void) {
    pthread_t a, b;
    shared = malloc(sizeof *shared);
    pthread_create(&a, 0, compare, 0);
    pthread_create(&b, 0, compare, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
