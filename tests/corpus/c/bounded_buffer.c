// expect: holds
#include <assert.h>
#include <pthread.h>
#define SIZE 2
int buffer[SIZE], count, in, out;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t space = PTHREAD_COND_INITIALIZER, items = PTHREAD_COND_INITIALIZER;
void *producer(void *p) {
    for (int i = 1; i <= 3; i++) {
        pthread_mutex_lock(&m);
        while (count == SIZE) pthread_cond_wait(&space, &m);
        buffer[in] = i;
        in = (in + 1) % SIZE;
        count++;
        pthread_cond_signal(&items);
        pthread_mutex_unlock(&m);
    }
    return 0;
}
void *consumer(void *p) {
    for (int i = 1; i <= 3; i++) {
        pthread_mutex_lock(&m);
        while (count == 0) pthread_cond_wait(&items, &m);
        int got = buffer[out];
        out = (out + 1) % SIZE;
        count--;
        pthread_cond_signal(&space);
        pthread_mutex_unlock(&m);
        assert(got == i);
    }
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, producer, 0);
    pthread_create(&b, 0, consumer, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
