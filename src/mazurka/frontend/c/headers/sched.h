#ifndef __MAZURKA_SCHED
#define __MAZURKA_SCHED
extern int sched_yield(void);
#endif
