// expect: holds
// check: --property assert,race
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
sem_t empty, full;
int slot;
void *producer(void *p) { for (int i = 1; i < 4; i++) { sem_wait(&empty); slot = i; sem_post(&full); } return 0; }
void *consumer(void *p) { for (int i = 1; i < 4; i++) { sem_wait(&full); assert(slot == i); sem_post(&empty); } return 0; }

int main(void) {
    pthread_t a, b;
    sem_init(&empty, 0, 1);
    sem_init(&full, 0, 0);
    pthread_create(&a, 0, producer, 0);
    pthread_create(&b, 0, consumer, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
