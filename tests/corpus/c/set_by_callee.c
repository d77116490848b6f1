// expect: holds
#include <assert.h>
#include <pthread.h>
int slot, full;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int take(int *out) {
    int taken = 0;
    pthread_mutex_lock(&lock);
    if (full) {
        *out = slot;
        full = 0;
        taken = 1;
    }
    pthread_mutex_unlock(&lock);
    return taken;
}
void *give(void *unused) {
    pthread_mutex_lock(&lock);
    slot = 7;
    full = 1;
    pthread_mutex_unlock(&lock);
    return 0;
}
int main(void) {
    pthread_t thread;
    int value;
    pthread_create(&thread, 0, give, 0);
    if (take(&value)) assert(value == 7);
    pthread_join(thread, 0);
    return 0;
}
