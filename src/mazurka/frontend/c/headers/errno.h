#ifndef __MAZURKA_ERRNO
#define __MAZURKA_ERRNO
#define EPERM 1
#define EINTR 4
#define EAGAIN 11
#define ENOMEM 12
#define EBUSY 16
#define EINVAL 22
#define ERANGE 34
#define EDEADLK 35
#define EOVERFLOW 75
#define ETIMEDOUT 110
extern __thread int errno;
#endif
