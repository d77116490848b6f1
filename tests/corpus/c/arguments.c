// expect: violated assert
#include <assert.h>
#include <pthread.h>
void *check(void *p) { assert(*(int *)p == 0); return 0; }
int main(void) {
    pthread_t t[2];
    int i;
    for (i = 0; i < 2; i++) pthread_create(&t[i], 0, check, &i);
    for (i = 0; i < 2; i++) pthread_join(t[i], 0);
    return 0;
}
