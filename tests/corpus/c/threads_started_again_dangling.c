// expect: violated memory "life has ended"
// The variable of an earlier thread is not that of the next one, in the same place.
// check: --max-threads 2
#include <pthread.h>
int *shown;
void *show(void *unused) { int x = 1; shown = &x; x = *shown; return 0; }
int main(void) {
    int round = 0;
    while (round < 4) {
        pthread_t thread;
        int *old = shown;
        pthread_create(&thread, 0, show, 0);
        if (round == 3) return *old;
        pthread_join(thread, 0);
        round++;
    }
    return 0;
}
