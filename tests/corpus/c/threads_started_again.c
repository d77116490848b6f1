// expect: holds
// Two threads at a time, and more of them in all than there is room for.
// check: --max-threads 3
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
_Thread_local int own = 1;
int sum;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
void *add(void *p) {
    int *kept = malloc(sizeof(int));
    *kept = *(int *)p;
    own += *kept;
    free(kept);
    pthread_mutex_lock(&lock);
    sum++;
    pthread_mutex_unlock(&lock);
    return (void *)(long)own;
}
int main(void) {
    int round = 0;
    while (round < 3) {
        pthread_t thread[2];
        int one = 1;
        void *result;
        for (int i = 0; i < 2; i++) pthread_create(&thread[i], 0, add, &one);
        for (int i = 0; i < 2; i++) {
            pthread_join(thread[i], &result);
            assert((long)result == 2);
        }
        round++;
    }
    assert(sum == 6);
    return 0;
}
