#ifndef __MAZURKA_STDDEF
#define __MAZURKA_STDDEF
#ifdef __LP64__
typedef unsigned long size_t;
typedef long ssize_t;
typedef long ptrdiff_t;
#else
typedef unsigned int size_t;
typedef int ssize_t;
typedef int ptrdiff_t;
#endif
typedef int wchar_t;
#define NULL ((void *)0)
#define offsetof(type, member) __builtin_offsetof(type, member)
#endif
