// expect: holds
// check: --property race
// Threads that only read memory which nobody has written do not race.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
_Bool *data;
void *look(void *unused) {
    _Bool first = *data, second = *data;
    assert(first == second);
    return 0;
}
int main(void) {
    pthread_t a, b;
    data = malloc(1);
    pthread_create(&a, 0, look, 0);
    pthread_create(&b, 0, look, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
