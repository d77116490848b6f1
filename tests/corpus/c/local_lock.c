// expect: violated memory "life has ended"
#include <pthread.h>
pthread_mutex_t *shown;
void *use(void *unused) {
    pthread_mutex_lock(shown);
    pthread_mutex_unlock(shown);
    return 0;
}
void begin(void) {
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_t thread;
    shown = &lock;
    pthread_create(&thread, 0, use, 0);
}
int main(void) { begin(); return 0; }
