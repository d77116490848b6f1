// expect: holds
#include <assert.h>
#include <pthread.h>
_Thread_local int mine = 1;
void *grow(void *p) { mine++; mine++; assert(mine == 3); return 0; }

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, grow, 0);
    pthread_create(&b, 0, grow, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(mine == 1);
    return 0;
}
