// expect: holds
// check: --property assert
#include <assert.h>
#include <pthread.h>
volatile int flag[2], turn;
int inside;
void *first(void *p) {
    flag[0] = 1;
    while (flag[1] >= 3) {}
    flag[0] = 3;
    if (flag[1] == 1) {
        flag[0] = 2;
        while (flag[1] != 4) {}
    }
    flag[0] = 4;

    inside++;
    assert(inside == 1);
    inside--;
    while (2 <= flag[1] && flag[1] <= 3) {}
    flag[0] = 0;
    return 0;
}
void *second(void *p) {
    flag[1] = 1;
    while (flag[0] >= 3) {}
    flag[1] = 3;
    if (flag[0] == 1) {
        flag[1] = 2;
        while (flag[0] != 4) {}
    }
    flag[1] = 4;
    while (flag[0] >= 2) {}
    inside++;
    assert(inside == 1);
    inside--;

    flag[1] = 0;
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
