// expect: violated exception "which has been joined already"
// A helper joins the worker, and so does main.
#include <pthread.h>
pthread_t worker;
void *work(void *unused) {
    return 0;
}
void *help(void *unused) {
    pthread_join(worker, 0);
    return 0;
}
int main(void) {
    pthread_t helper;
    pthread_create(&worker, 0, work, 0);
    pthread_create(&helper, 0, help, 0);
    pthread_join(helper, 0);
    pthread_join(worker, 0);
    return 0;
}
