// expect: violated assert
// The address of x is kept by an atomic operation: others see what is written to it.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
int *_Atomic shown;
void *look(void *unused) {
    int *p = atomic_load(&shown);
    if (p) assert(*p == 0);
    return 0;
}
int main(void) {
    int x = 0;
    pthread_t thread;
    pthread_create(&thread, 0, look, 0);
    atomic_store(&shown, &x);
    x = 1;
    pthread_join(thread, 0);
    return 0;
}
