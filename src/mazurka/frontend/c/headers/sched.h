#ifndef __MAZURKA_SCHED
#define __MAZURKA_SCHED
#define SCHED_OTHER 0
#define SCHED_FIFO 1
#define SCHED_RR 2
struct sched_param { int sched_priority; };
typedef struct { unsigned long __cpus[16]; } cpu_set_t;
#define CPU_ZERO(set) ((void)(set))
#define CPU_SET(cpu, set) ((void)(cpu), (void)(set))
extern int sched_yield(void);
extern int sched_setaffinity(int process, unsigned long size, const cpu_set_t *set);
#endif
