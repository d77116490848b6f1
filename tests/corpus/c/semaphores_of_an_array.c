// expect: holds
// Which semaphore is posted is found at run time: none of them is known to stay small.
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
extern _Bool __VERIFIER_nondet_bool(void);
static sem_t agent, smoker[3];
static int smoked;
static void *smoke(void *who) {
    long i = (long)who;
    while (1) {
        sem_wait(&smoker[i]);
        if (smoked >= 2) return 0;
        smoked++;
        sem_post(&agent);
    }
}
int main(void) {
    pthread_t threads[3];
    sem_init(&agent, 0, 0);
    for (long i = 0; i < 3; i++) {
        sem_init(&smoker[i], 0, 0);
        pthread_create(&threads[i], 0, smoke, (void *)i);
    }
    for (int round = 0; round < 2; round++) {
        sem_post(&smoker[__VERIFIER_nondet_bool()]);
        sem_wait(&agent);
    }
    assert(smoked == 2);
    for (int i = 0; i < 3; i++) sem_post(&smoker[i]);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
    return 0;
}
