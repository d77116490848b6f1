// expect: holds
#include <assert.h>
#include <pthread.h>
int lock, x;
void *add(void *p) { while (__sync_lock_test_and_set(&lock, 1)) {} x++; __sync_lock_release(&lock); return 0; }

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, add, 0);
    pthread_create(&b, 0, add, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(x == 2);
    return 0;
}
