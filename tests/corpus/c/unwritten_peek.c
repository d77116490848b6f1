// expect: holds
// Memory that nobody has written is read while another thread writes it: what is written stays.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
_Atomic _Bool *flag, seen;
void *peek(void *unused) { if (*flag) seen = 1; return 0; }
void *set(void *unused) { *flag = 1; return 0; }
int main(void) {
    pthread_t a, b;
    flag = malloc(sizeof *flag);
    pthread_create(&a, 0, peek, 0);
    pthread_create(&b, 0, set, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(*flag);
    return 0;
}
