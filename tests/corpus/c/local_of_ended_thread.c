// expect: violated memory "life has ended"
#include <pthread.h>
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int *shown;
void *show(void *unused) {
    int x = 1;
    pthread_mutex_lock(&lock);
    shown = &x;
    pthread_mutex_unlock(&lock);
    return 0;
}
int main(void) {
    pthread_t thread;
    int seen = 0;
    pthread_create(&thread, 0, show, 0);
    pthread_mutex_lock(&lock);
    if (shown) seen = *shown;
    pthread_mutex_unlock(&lock);
    pthread_join(thread, 0);
    return seen;
}
