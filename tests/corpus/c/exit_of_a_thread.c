// expect: holds
// check: --property assert,deadlock,hang
// A worker ends the process while everybody else waits: nobody is left who could wait for ever.
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
int jobs = 1;
void *work(void *unused) {
    pthread_mutex_lock(&lock);
    jobs--;
    pthread_mutex_unlock(&lock);
    exit(jobs);
}
void *wait(void *unused) {
    pthread_mutex_lock(&other);
    pthread_mutex_lock(&other);
    return 0;
}
int main(void) {
    pthread_t worker, waiting;
    pthread_create(&worker, 0, work, 0);
    pthread_create(&waiting, 0, wait, 0);
    pause();
    return 0;
}
