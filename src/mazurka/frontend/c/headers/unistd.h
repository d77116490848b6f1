#ifndef __MAZURKA_UNISTD
#define __MAZURKA_UNISTD
#include <sys/types.h>
extern unsigned sleep(unsigned seconds);
extern int usleep(unsigned microseconds);
extern int pause(void);
extern long write(int file, const void *bytes, unsigned long size);
#define STDIN_FILENO 0
#define STDOUT_FILENO 1
#define STDERR_FILENO 2
#define _SC_PAGESIZE 30
#define _SC_NPROCESSORS_CONF 83
#define _SC_NPROCESSORS_ONLN 84
extern long sysconf(int name);
extern void _exit(int status) __attribute__((__noreturn__));
#endif
