// expect: holds
#include <assert.h>
#include <pthread.h>
int twice(int x) { return 2 * x; }
int next(int x) { return x + 1; }
int (*table[2])(int) = {twice, next};
int x;
void *run(void *p) { for (int i = 0; i < 2; i++) { int y = table[i](5); __sync_fetch_and_add(&x, y); } return 0; }

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, run, 0);
    pthread_create(&b, 0, run, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(x == 32);
    return 0;
}
