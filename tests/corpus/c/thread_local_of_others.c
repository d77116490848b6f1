// expect: violated memory "life has ended"
#include <pthread.h>
_Thread_local int own = 1;
int *shown;
void *show(void *unused) { shown = &own; return 0; }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, show, 0);
    pthread_join(thread, 0);
    return *shown;
}
