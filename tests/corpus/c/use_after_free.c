// expect: violated memory
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
int *p;
void *user(void *a) { *p = 2; return 0; }
void *freer(void *a) { free(p); return 0; }

int main(void) {
    pthread_t a, b;
    p = malloc(sizeof(int));
    pthread_create(&a, 0, user, 0);
    pthread_create(&b, 0, freer, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
