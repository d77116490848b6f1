#ifndef __MAZURKA_UNISTD
#define __MAZURKA_UNISTD
#include <sys/types.h>
extern unsigned sleep(unsigned seconds);
extern int usleep(unsigned microseconds);
extern int pause(void);
extern void _exit(int status) __attribute__((__noreturn__));
#endif
