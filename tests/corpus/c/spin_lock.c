// expect: holds
#include <assert.h>
#include <pthread.h>
pthread_spinlock_t s;
int x;
void *add(void *p) { pthread_spin_lock(&s); x++; pthread_spin_unlock(&s); return 0; }

int main(void) {
    pthread_t a, b;
    pthread_spin_init(&s, 0);
    pthread_create(&a, 0, add, 0);
    pthread_create(&b, 0, add, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(x == 2);
    return 0;
}
