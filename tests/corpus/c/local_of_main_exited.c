// expect: violated memory "life has ended"
#include <pthread.h>
void *look(void *p) { int seen = *(int *)p; return 0; }
int main(void) {
    int x = 0;
    pthread_t thread;
    pthread_create(&thread, 0, look, &x);
    pthread_exit(0);
}
