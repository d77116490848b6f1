// expect: violated race
// check: --property race
#include <assert.h>
#include <pthread.h>
int x;
void *set(void *p) { x = 1; return 0; }

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, set, 0);
    pthread_create(&b, 0, set, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
