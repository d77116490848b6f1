// expect: violated race "flags.c"
// check: --property race
#include <pthread.h>
struct { unsigned a : 4; unsigned : 0; unsigned b : 3, : 2, c : 1; } flags = {1, 2, 1};
void *set(void *unused) { flags.b = 1; return 0; }
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, set, 0);
    flags.a = flags.a + 1;  // another location
    flags.c = 0;            // the same
    pthread_join(t, 0);
    return 0;
}
