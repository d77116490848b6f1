// expect: violated race "look reads"
// check: --property race
// One thread reads memory that nobody has written while another one writes it.
#include <pthread.h>
#include <stdlib.h>
unsigned char *data, seen;
void *look(void *unused) {
    seen = *data;
    return 0;
}
int main(void) {
    pthread_t thread;
    data = malloc(1);
    pthread_create(&thread, 0, look, 0);
    *data = 1;
    pthread_join(thread, 0);
    return 0;
}
