// expect: violated assert
// check: --property assert
#include <assert.h>
#include <pthread.h>
volatile int flag[2], turn;
int inside;
void *first(void *p) {

    while (flag[1]) {
        if (turn == 1) {
            flag[0] = 0;
            while (turn == 1) {}
            flag[0] = 1;
        }
    }
    flag[0] = 1;
    inside++;
    assert(inside == 1);
    inside--;
    turn = 1;
    flag[0] = 0;
    return 0;
}
void *second(void *p) {

    while (flag[0]) {
        if (turn == 0) {
            flag[1] = 0;
            while (turn == 0) {}
            flag[1] = 1;
        }
    }
    flag[1] = 1;
    inside++;
    assert(inside == 1);
    inside--;
    turn = 0;
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
