// expect: violated assert
#include <assert.h>
#include <pthread.h>
extern _Bool __VERIFIER_nondet_bool(void);
extern void __VERIFIER_assume(int);
int x;
void *choose(void *p) { if (__VERIFIER_nondet_bool()) x = 1; return 0; }

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, choose, 0);
    pthread_create(&b, 0, choose, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    __VERIFIER_assume(x != 0);
    assert(x == 0);
    return 0;
}
