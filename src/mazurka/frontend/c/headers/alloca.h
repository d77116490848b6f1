#ifndef __MAZURKA_ALLOCA
#define __MAZURKA_ALLOCA
#include <stddef.h>
extern void *alloca(size_t size);
#endif
