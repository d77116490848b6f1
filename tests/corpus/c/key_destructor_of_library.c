// expect: violated memory "`*seen` uses memory that is not allocated, or freed"
// The destructor of a key may be a function of the library.
#include <pthread.h>
#include <stdlib.h>

pthread_key_t key;
int *seen;

void *worker(void *unused) {
    int *mine = malloc(sizeof(int));
    *mine = 1;
    pthread_setspecific(key, mine);
    seen = mine;
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_key_create(&key, free);
    pthread_create(&thread, 0, worker, 0);
    pthread_join(thread, 0);
    return *seen;
}
