// expect: violated deadlock
#include <assert.h>
#include <pthread.h>
pthread_mutex_t m;
int main(void) {
    pthread_mutexattr_t how;
    pthread_mutexattr_init(&how);
    pthread_mutexattr_settype(&how, PTHREAD_MUTEX_NORMAL);
    pthread_mutex_init(&m, &how);
    pthread_mutex_lock(&m);
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    pthread_mutex_unlock(&m);
    return 0;
}
