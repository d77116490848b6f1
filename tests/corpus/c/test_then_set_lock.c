// expect: violated assert
// check: --property assert
#include <assert.h>
#include <pthread.h>
int lock, x;
void *add(void *p) { while (lock) {} lock = 1; x++; lock = 0; return 0; }

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, add, 0);
    pthread_create(&b, 0, add, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(x == 2);
    return 0;
}
