// expect: violated deadlock
#include <assert.h>
#include <pthread.h>
pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, two = PTHREAD_MUTEX_INITIALIZER;
void *there(void *p) { pthread_mutex_lock(&one); pthread_mutex_lock(&two); pthread_mutex_unlock(&two); pthread_mutex_unlock(&one); return 0; }
void *back(void *p) { pthread_mutex_lock(&two); pthread_mutex_lock(&one); pthread_mutex_unlock(&one); pthread_mutex_unlock(&two); return 0; }

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, there, 0);
    pthread_create(&b, 0, back, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
