// expect: violated assert "sum == 2"
// Both threads may write the same element; the other one is read without ever having been written.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
int *marks, next = -1;
void *mark(void *unused) { marks[next] = 1; return 0; }
int main(void) {
    pthread_t a, b;
    marks = malloc(2 * sizeof(int));
    next++;
    pthread_create(&a, 0, mark, 0);
    next++;
    pthread_create(&b, 0, mark, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    int sum = marks[0] + marks[1];
    assert(sum == 2);
    return 0;
}
