// expect: inconclusive
#include <assert.h>
#include <pthread.h>
int down(int n) { return n == 0 ? 0 : 1 + down(n - 1); }
int start = 20;
int main(void) { start++; assert(down(start) == 21); return 0; }
