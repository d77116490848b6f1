// expect: violated deadlock
#include <assert.h>
#include <pthread.h>
#define N 3
pthread_mutex_t fork[N];
void *dine(void *p) {
    long i = (long)p;
    pthread_mutex_lock(&fork[i]);
    pthread_mutex_lock(&fork[(i + 1) % N]);
    pthread_mutex_unlock(&fork[(i + 1) % N]);
    pthread_mutex_unlock(&fork[i]);
    return 0;
}
int main(void) {
    pthread_t t[N];
    for (long i = 0; i < N; i++) pthread_create(&t[i], 0, dine, (void *)i);
    for (int i = 0; i < N; i++) pthread_join(t[i], 0);
    return 0;
}
