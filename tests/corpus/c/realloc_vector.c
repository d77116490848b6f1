// expect: holds
// An array that grows while two threads add to it.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
static struct entry { int key; const char *name; } *entries;
static size_t used, room;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void add(int key) {
    if (used == room) {
        room = room ? 2 * room : 1;
        entries = realloc(entries, room * sizeof *entries);
        if (!entries) abort();
    }
    entries[used].key = key;
    entries[used++].name = "x";
}
static void *worker(void *number) {
    pthread_mutex_lock(&lock);
    for (int i = 0; i < 2; i++) add((int)(long)number);
    pthread_mutex_unlock(&lock);
    return 0;
}
int main(void) {
    pthread_t first, second;
    pthread_create(&first, 0, worker, (void *)1);
    pthread_create(&second, 0, worker, (void *)10);
    pthread_join(first, 0);
    pthread_join(second, 0);
    int sum = 0;
    for (size_t i = 0; i < used; i++) sum += entries[i].key;
    assert(sum == 22 && room == 4 && entries[3].name[0] == 'x');
    free(entries);
    return 0;
}
