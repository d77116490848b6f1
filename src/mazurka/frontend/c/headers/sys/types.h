#ifndef __MAZURKA_SYS_TYPES
#define __MAZURKA_SYS_TYPES
#include <stddef.h>
#include <stdint.h>
typedef int pid_t;
typedef long off_t;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef unsigned short ushort;
#endif
