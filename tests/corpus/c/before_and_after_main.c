// expect: violated assert "trail == 2135"
#include <assert.h>
#include <stdlib.h>
static int trail;
__attribute__((constructor)) static void third(void) { assert(trail == 21); trail = trail * 10 + 3; }
__attribute__((constructor(102), unused)) static void second(void) { trail = trail * 10 + 1; }
__attribute__((constructor(101))) static void first(void) { assert(trail == 0); trail = 2; }
__attribute__((destructor(101))) static void last(void) { assert(trail == 2135); }
__attribute__((destructor)) static void before(void) { trail = trail * 10 + 6; }
int main(void) { trail = trail * 10 + 5; exit(0); }
