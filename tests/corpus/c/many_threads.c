// expect: inconclusive
// check: --max-threads 2 --property assert
#include <assert.h>
#include <pthread.h>
int x;
void *add(void *p) { __sync_fetch_and_or(&x, 1); return 0; }
int main(void) { pthread_t t; while (1) pthread_create(&t, 0, add, 0); }
