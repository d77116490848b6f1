// expect: violated memory "life has ended"
#include <pthread.h>
void *add(void *p) { ++*(int *)p; return 0; }
void begin(pthread_t *thread) { int x = 0; pthread_create(thread, 0, add, &x); }
int main(void) {
    pthread_t thread;
    begin(&thread);
    pthread_join(thread, 0);
    return 0;
}
