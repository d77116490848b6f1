#ifndef __MAZURKA_TIME
#define __MAZURKA_TIME
#include <stddef.h>
typedef long time_t;
typedef long clock_t;
typedef int clockid_t;
struct timespec { time_t tv_sec; long tv_nsec; };
#define CLOCK_REALTIME 0
#define CLOCK_MONOTONIC 1
#define CLOCK_PROCESS_CPUTIME_ID 2
#define CLOCK_THREAD_CPUTIME_ID 3
#define CLOCK_MONOTONIC_RAW 4
#define CLOCK_REALTIME_COARSE 5
#define CLOCK_MONOTONIC_COARSE 6
#define CLOCK_BOOTTIME 7
#define TIME_UTC 1
extern int timespec_get(struct timespec *result, int base);
extern clock_t clock(void);
#define CLOCKS_PER_SEC 1000000L
extern time_t time(time_t *result);
extern int clock_gettime(clockid_t clock, struct timespec *result);
extern int nanosleep(const struct timespec *wanted, struct timespec *left);
#endif
