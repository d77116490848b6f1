#ifndef __MAZURKA_SYS_TIME
#define __MAZURKA_SYS_TIME
#include <time.h>
struct timeval { time_t tv_sec; long tv_usec; };
#endif
