// expect: violated assert "value < 7"
// A member of three bits is read while another thread may not have written it yet.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
struct state { unsigned level : 3; } *state;
void *peek(void *unused) {
    unsigned char value = state->level;
    assert(value < 7);
    return 0;
}
void *set(void *unused) { state->level = 2; return 0; }
int main(void) {
    pthread_t a, b;
    state = malloc(sizeof *state);
    pthread_create(&a, 0, peek, 0);
    pthread_create(&b, 0, set, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
