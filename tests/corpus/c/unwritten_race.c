// expect: violated race "set writes"
// check: --property race
// Every run comes to the race, behind a read of memory that nobody has written.
#include <pthread.h>
#include <stdlib.h>
unsigned char *data;
void *set(void *unused) {
    unsigned char first = data[0];
    data[1] = first & 1;
    return 0;
}
int main(void) {
    pthread_t a, b;
    data = malloc(2);
    pthread_create(&a, 0, set, 0);
    pthread_create(&b, 0, set, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
