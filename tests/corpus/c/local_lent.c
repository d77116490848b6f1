// expect: holds
// As local_given_away.c, but the function waits for the thread; main's own variable lives on.
#include <assert.h>
#include <pthread.h>
void *add(void *p) { ++*(int *)p; return 0; }
int add_twice(int *sum) {
    int x = 0;
    pthread_t first, second;
    pthread_create(&first, 0, add, &x);
    pthread_create(&second, 0, add, sum);
    pthread_join(first, 0);
    pthread_join(second, 0);
    return x;
}
int main(void) {
    int sum = 0;
    int x = add_twice(&sum) + add_twice(&sum);
    assert(x == 2 && sum == 2);
    return 0;
}
