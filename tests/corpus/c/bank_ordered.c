// expect: holds
#include <assert.h>
#include <pthread.h>
pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, two = PTHREAD_MUTEX_INITIALIZER;
void move(pthread_mutex_t *first, pthread_mutex_t *second) { pthread_mutex_lock(first); pthread_mutex_lock(second); pthread_mutex_unlock(second); pthread_mutex_unlock(first); }
void *there(void *p) { move(&one, &two); return 0; }

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, there, 0);
    pthread_create(&b, 0, there, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
