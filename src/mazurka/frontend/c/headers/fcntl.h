#ifndef __MAZURKA_FCNTL
#define __MAZURKA_FCNTL
#include <sys/types.h>
#define O_RDONLY 0
#define O_WRONLY 1
#define O_RDWR 2
#define O_CREAT 64
#define O_EXCL 128
#define O_TRUNC 512
#define O_APPEND 1024
#define O_NONBLOCK 2048
#define F_GETFL 3
#define F_SETFL 4
#define FD_CLOEXEC 1
extern int open(const char *path, int flags, ...);
extern int fcntl(int file, int command, ...);
#endif
